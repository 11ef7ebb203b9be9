import { isMap, isScalar, parseDocument, stringify, type Document, type YAMLMap } from 'yaml';
import { isDeepStrictEqual } from 'node:util';

import { isTree, type Tree } from './tree.ts';

const style = { indent: 4, lineWidth: 200 } as const;

/** A new file of the values repository. */
export function yamlFile(content: Tree): string {
  return Object.keys(content).length === 0 ? '' : stringify(content, { ...style, aliasDuplicateObjects: false });
}

/**
 * `text` with `content` in it. What did not change keeps its bytes as far as YAML can tell: comments, order and quotes stay, and
 * where nothing changed at all so does the whole text.
 */
export function withContent(text: string, content: Tree): string {
  const document = parseDocument(text);
  const present: unknown = document.toJS({ maxAliasCount: 100 });
  if (isDeepStrictEqual(present ?? {}, content)) return text;
  if (!isMap(document.contents)) return yamlFile(content);
  change(document, document.contents, content);
  return document.toString({ ...style, indent: indentOf(text) });
}

function change(document: Document, map: YAMLMap, content: Tree): void {
  const stale = map.items
    .map(({ key }) => String(isScalar(key) ? key.value : key))
    .filter((key) => !Object.hasOwn(content, key));
  for (const key of stale) map.delete(key);
  for (const [key, value] of Object.entries(content)) {
    const node = map.get(key, true);
    if (isMap(node) && isTree(value)) change(document, node, value);
    else if (isScalar(node) && (typeof value !== 'object' || value === null)) node.value = value;
    else if (node === undefined || !isDeepStrictEqual(toPlain(document, node), value))
      map.set(key, document.createNode(value));
  }
}

function toPlain(document: Document, node: unknown): unknown {
  return (node as { toJS?: (document: Document) => unknown }).toJS?.(document);
}

function indentOf(text: string): number {
  return /^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? style.indent;
}
