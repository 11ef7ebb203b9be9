import { isMap, isScalar, LineCounter, parseDocument, stringify, type Document, type YAMLMap } from 'yaml';
import { isDeepStrictEqual } from 'node:util';

import { isTree, type Tree } from './tree.ts';
import { ValuesError } from './values-error.ts';

const style = { indent: 4, lineWidth: 200 } as const;

/** Far above what anybody writes by hand; a document of aliases of aliases is none. */
const maxAliasCount = 100;

/** A YAML document with its lines. What is the matter with one that is none never quotes it: there may be a secret on the line. */
export function parseLines(text: string, file: string): { document: Document; lines: LineCounter; content: unknown } {
  const lines = new LineCounter();
  const refuse = (message: string, line?: number): never => {
    throw new ValuesError('Malformed', 'a file of values cannot be read', [
      { file, ...(line === undefined ? {} : { line }), path: '', message },
    ]);
  };
  let document: Document;
  try {
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  } catch {
    return refuse('is no YAML');
  }
  const [error] = document.errors;
  if (error) refuse(error.code.toLowerCase().replaceAll('_', ' '), lines.linePos(error.pos[0]).line);
  try {
    return { document, lines, content: document.toJS({ maxAliasCount }) as unknown };
  } catch {
    return refuse('has too many aliases, or is too deep');
  }
}

/** The map in a file; `undefined` for an empty file. */
export function parseYaml(text: string, file: string): Tree | undefined {
  const { content } = parseLines(text, file);
  if (content === null || content === undefined) return undefined;
  if (isTree(content)) return content;
  throw new ValuesError('Malformed', 'a file of values cannot be read', [
    { file, line: 1, path: '', message: 'must be a map of settings' },
  ]);
}

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
  const present: unknown = document.toJS({ maxAliasCount });
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
  // `{}` is how an empty map has to be written, not how anybody wants to read a full one.
  if (map.items.length === 0 && Object.keys(content).length > 0) map.flow = false;
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
