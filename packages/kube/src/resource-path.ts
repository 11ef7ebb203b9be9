import { kindText, type Kind } from './kind.ts';
import type { ObjectKey } from './object.ts';
import { InputError } from './input-error.ts';

export type QueryValue = string | number | boolean | undefined;

/** The path of a version of an API. Throws where group or version come from somebody who would rather name another path. */
export function apiPath({ group, version }: Pick<Kind, 'group' | 'version'>): string {
  return group === ''
    ? `/api/${apiSegment(version, 'version')}`
    : `/apis/${apiSegment(group, 'group')}/${apiSegment(version, 'version')}`;
}

/** The path of all objects of a kind: in one namespace, or (without one) in all. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const plural = apiSegment(kind.plural, 'resource');
  return namespace && kind.scope === 'Namespaced'
    ? `${apiPath(kind)}/namespaces/${segment(namespace, 'namespace')}/${plural}`
    : `${apiPath(kind)}/${plural}`;
}

/** The path of one object, or of a subresource of it. */
export function objectPath(kind: Kind, key: ObjectKey, subresource?: string): string {
  if (!key.name) throw new TypeError(`${kindText(kind)}: the key has no name`);
  if (kind.scope === 'Namespaced' && !key.namespace)
    throw new TypeError(`${kindText(kind)} ${key.name}: the kind is namespaced, but the key has no namespace`);
  const path = `${collectionPath(kind, key.namespace)}/${segment(key.name, 'name')}`;
  return subresource ? `${path}/${subresource}` : path;
}

/** `path` with the query parameters that have a value. */
export function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.append(name, String(value));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

const apiName = /^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/i;

/** Whether something can stand in a path as a group, a version or a resource. */
export function isApiName(value: unknown): value is string {
  return typeof value === 'string' && apiName.test(value);
}

/** Kinds come from manifests and specs as well: with a slash or a question mark in one, a request would be for something else. */
function apiSegment(text: string, what: string): string {
  if (!isApiName(text)) throw new InputError('Name', `${what} "${text}" is not the name of an API`);
  return text;
}

function segment(text: string, what: string): string {
  // Path segments the server would resolve to something else must not leave this process.
  if (text === '.' || text === '..' || text.includes('/') || text.includes('%'))
    throw new InputError('Name', `${what} "${text}" is not the name of an object`);
  return encodeURIComponent(text);
}
