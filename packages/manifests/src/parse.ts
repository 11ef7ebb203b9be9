import type { KubeObject } from '@slipway/kube';
import { LineCounter, parseAllDocuments, type Document } from 'yaml';

import { kubectlTags } from './kubectl-yaml.ts';
import { ManifestError, type ManifestProblem } from './manifest-error.ts';
import { validateManifest, type FieldProblem } from './validate.ts';

export interface ParseOptions {
  /** What errors call the text. Default `manifest`. */
  source?: string;
  /** More that may be wrong with an object, asked of each that is an object at all. */
  check?: (object: KubeObject) => readonly FieldProblem[];
}

/**
 * Reads a stream of Kubernetes objects: YAML documents, JSON objects one after another, `kind: List` taken apart. Empty
 * documents are skipped. Throws a {@link ManifestError} that lists every problem with document, line and field.
 *
 * @example
 * const [config] = parseManifests('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n');
 * config.metadata.name; // => 'a'
 */
export function parseManifests(text: string, options: ParseOptions = {}): KubeObject[] {
  const source = options.source ?? 'manifest';
  const lines = new LineCounter();
  const documents = parseAllDocuments(separateJsonObjects(text), {
    version: '1.1',
    merge: false,
    lineCounter: lines,
    customTags: kubectlTags,
    uniqueKeys: true,
    prettyErrors: false,
  });
  const problems: ManifestProblem[] = [];
  const objects: KubeObject[] = [];
  if (!Array.isArray(documents)) return objects;
  for (const [index, document] of documents.entries()) {
    const at = { source, document: index + 1 };
    if (document.errors.length > 0) {
      for (const error of document.errors) {
        problems.push({ ...at, line: lines.linePos(error.pos[0]).line, message: withoutQuote(error) });
      }
      continue;
    }
    const value = toPlainValue(document, at, problems);
    if (value === null || value === undefined) continue;
    const line = lines.linePos(document.contents?.range?.[0] ?? 0).line;
    collect(value, { ...at, line }, '', objects, problems, options.check);
  }
  if (problems.length > 0) throw new ManifestError(problems);
  return objects;
}

function toPlainValue(
  document: Document,
  at: { source: string; document: number },
  problems: ManifestProblem[],
): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    problems.push({ ...at, message: withoutQuote(error) });
    return undefined;
  }
}

/** What the parser says without what it quotes: the text may be that of a Secret, and a password that begins with `*` is an alias. */
function withoutQuote(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/(?<=[\w)]): .*$/s, '').replace(/(?<=escape sequence) .*$/s, '');
}

function collect(
  value: unknown,
  at: { source: string; document: number; line: number },
  prefix: string,
  objects: KubeObject[],
  problems: ManifestProblem[],
  check: ParseOptions['check'],
): void {
  if (isList(value)) {
    for (const [index, item] of value.items.entries())
      collect(item, at, `${prefix}items[${index}].`, objects, problems, check);
    return;
  }
  const basics = validateManifest(value);
  const found = basics.length > 0 ? basics : (check?.(value as KubeObject) ?? []);
  for (const problem of found) problems.push({ ...at, field: `${prefix}${problem.field}`, message: problem.message });
  if (found.length === 0) objects.push(value as KubeObject);
}

function isList(value: unknown): value is { items: unknown[] } {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, items } = value as { kind?: unknown; items?: unknown };
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items);
}

/** `{…}{…}` and `{…}\n{…}` are streams to kubectl but one broken document to YAML: put separators between the objects. */
function separateJsonObjects(text: string): string {
  if (!/^\s*\{/.test(text)) return text;
  const nextObject = /\s*\{/y;
  let depth = 0;
  let inString = false;
  let result = '';
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      nextObject.lastIndex = i + 1;
      if (depth === 0 && nextObject.test(text)) {
        result += `${text.slice(start, i + 1)}\n---\n`;
        start = i + 1;
      }
    }
  }
  return result + text.slice(start);
}
