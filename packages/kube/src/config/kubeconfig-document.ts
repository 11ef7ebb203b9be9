import { dirname } from 'node:path';

import { parse, YAMLParseError } from 'yaml';

import { ConfigError } from './config-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A named entry of a kubeconfig, with the file it stands in: relative paths are relative to that. */
export interface Entry {
  readonly name: string;
  readonly file: string;
  readonly directory: string;
  /** Path of `fields` in the file, such as `users[admin].user`. */
  readonly at: string;
  readonly fields: Fields;
}

/** One kubeconfig file, or several merged: entries found first win, whole. */
export interface KubeconfigDocument {
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

export function parseKubeconfig(text: string, file: string): KubeconfigDocument {
  let document: unknown;
  try {
    document = parse(text);
  } catch (cause) {
    // The parser's message quotes the text around the mistake, which may be a token.
    const line = cause instanceof YAMLParseError ? cause.linePos?.[0].line : undefined;
    throw new ConfigError(`is not YAML${line === undefined ? '' : ` (line ${line})`}`, { file });
  }
  if (document === null || document === undefined) document = {};
  if (!isObject(document)) throw new ConfigError('is not a kubeconfig: it holds no fields', { file });
  const { kind, apiVersion } = document;
  if (kind !== undefined && kind !== 'Config') throw new ConfigError('must be Config', { file, field: 'kind' });
  if (apiVersion !== undefined && apiVersion !== 'v1')
    throw new ConfigError('must be v1', { file, field: 'apiVersion' });
  const currentContext = document['current-context'];
  if (currentContext !== undefined && currentContext !== null && typeof currentContext !== 'string')
    throw new ConfigError('must be text', { file, field: 'current-context' });
  return {
    currentContext: currentContext || undefined,
    clusters: entries(document, 'clusters', 'cluster', file),
    users: entries(document, 'users', 'user', file),
    contexts: entries(document, 'contexts', 'context', file),
  };
}

function entries(document: Fields, list: string, item: string, file: string): Map<string, Entry> {
  const result = new Map<string, Entry>();
  const values = document[list] ?? [];
  if (!Array.isArray(values)) throw new ConfigError('must be a list', { file, field: list });
  for (const [index, value] of values.entries()) {
    if (!isObject(value)) throw new ConfigError('must have fields', { file, field: `${list}[${index}]` });
    const { name } = value;
    if (typeof name !== 'string' || name === '')
      throw new ConfigError('must be text', { file, field: `${list}[${index}].name` });
    const at = `${list}[${name}].${item}`;
    const fields = value[item] ?? {};
    if (!isObject(fields)) throw new ConfigError('must have fields', { file, field: at });
    if (!result.has(name)) result.set(name, { name, file, directory: dirname(file), at, fields });
  }
  return result;
}

/** Merges as kubectl does: the first file that sets something wins. */
export function mergeKubeconfigs(documents: readonly KubeconfigDocument[]): KubeconfigDocument {
  const merge = (pick: (document: KubeconfigDocument) => ReadonlyMap<string, Entry>) => {
    const result = new Map<string, Entry>();
    for (const document of documents)
      for (const [name, entry] of pick(document)) if (!result.has(name)) result.set(name, entry);
    return result;
  };
  return {
    currentContext: documents.find((document) => document.currentContext !== undefined)?.currentContext,
    clusters: merge((document) => document.clusters),
    users: merge((document) => document.users),
    contexts: merge((document) => document.contexts),
  };
}

/** Typed reads of an entry's fields; what has the wrong type is an error that names file, context and field. */
export class EntryReader {
  readonly #entry: Entry;
  readonly #context: string | undefined;

  constructor(entry: Entry, context: string | undefined) {
    this.#entry = entry;
    this.#context = context;
  }

  get directory(): string {
    return this.#entry.directory;
  }

  text(field: string): string | undefined {
    const value = this.#entry.fields[field];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') this.fail(field, 'must be text');
    return value as string;
  }

  flag(field: string): boolean {
    const value = this.#entry.fields[field];
    if (value === undefined || value === null) return false;
    if (typeof value !== 'boolean') this.fail(field, 'must be true or false');
    return value as boolean;
  }

  texts(field: string): string[] {
    const value = this.#entry.fields[field] ?? [];
    if (!Array.isArray(value) || value.some((item) => typeof item !== 'string'))
      this.fail(field, 'must be a list of texts');
    return value as string[];
  }

  object(field: string): Fields | undefined {
    const value = this.#entry.fields[field];
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) this.fail(field, 'must have fields');
    return value as Fields;
  }

  value(field: string): unknown {
    return this.#entry.fields[field];
  }

  /** Text from base64. */
  data(field: string): string | undefined {
    const value = this.text(field);
    if (value === undefined) return undefined;
    const compact = value.replaceAll(/\s/g, '');
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) this.fail(field, 'must be base64');
    return Buffer.from(compact, 'base64').toString('utf8');
  }

  /** A reader for an object inside this entry. */
  below(field: string): EntryReader | undefined {
    const fields = this.object(field);
    return fields && new EntryReader({ ...this.#entry, at: `${this.#entry.at}.${field}`, fields }, this.#context);
  }

  fail(field: string, problem: string, cause?: unknown): never {
    throw this.error(field, problem, cause);
  }

  error(field: string, problem: string, cause?: unknown): ConfigError {
    return new ConfigError(problem, {
      file: this.#entry.file,
      context: this.#context,
      field: `${this.#entry.at}.${field}`,
      cause,
    });
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
