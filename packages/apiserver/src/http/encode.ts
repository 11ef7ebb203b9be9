import { identityOf, inVersion } from '../request/versions.ts';
import type { ApiObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Entry } from '../store/entry.ts';

/** Go's order of the metadata fields. */
const metadataOrder = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

/** Metadata in Go's order. */
export function orderedMetadata(metadata: ApiObject['metadata']): ApiObject['metadata'] {
  const ordered: ApiObject['metadata'] = {};
  for (const field of metadataOrder) if (metadata[field] !== undefined) ordered[field] = metadata[field];
  for (const field of Object.keys(metadata))
    if (!(field in ordered) && metadata[field] !== undefined) ordered[field] = metadata[field];
  return ordered;
}

/** The JSON of an object without the opening brace, kind and apiVersion: the part that is alike in every context. */
function bodyOf(object: ApiObject): string {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  return JSON.stringify({ metadata: orderedMetadata(metadata), ...rest }).slice(1);
}

/** `{"kind":…,"apiVersion":…,`, to be followed by a body. */
function headOf(object: ApiObject, custom: boolean): string {
  const kind = `"kind":${JSON.stringify(object.kind)}`;
  const apiVersion = `"apiVersion":${JSON.stringify(object.apiVersion)}`;
  return custom ? `{${apiVersion},${kind},` : `{${kind},${apiVersion},`;
}

/** Texts and not bytes: many small buffers that live as long as their objects leave holes in memory that nobody gets back. */
export interface EncodedObject {
  readonly head: string;
  readonly body: string;
}

/** A stored object in the version of `resource`, encoded at most once. */
export function encodeEntry(entry: Entry, resource: Resource): EncodedObject | Promise<EncodedObject> {
  return entry.cached(`json ${identityOf(resource)}`, () => {
    const encode = (object: ApiObject) => ({ head: headOf(object, resource.custom), body: bodyOf(object) });
    const object = inVersion(entry, resource);
    return object instanceof Promise ? object.then(encode) : encode(object);
  });
}

export function encodeObject(object: ApiObject, custom: boolean): Buffer {
  return Buffer.from(`${headOf(object, custom)}${bodyOf(object)}\n`);
}

export function joined({ head, body }: EncodedObject): Buffer {
  return Buffer.from(`${head}${body}\n`);
}

/** An item of a list: built-ins leave out kind and apiVersion there, custom resources do not. */
export function itemText({ head, body }: EncodedObject, custom: boolean): string {
  return `${custom ? head : '{'}${body}`;
}
