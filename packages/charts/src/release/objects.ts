import { type Client, isRecord, isUnknownKind, type Kind, type KubeObject } from '@slipway/kube';

import { toPlain, type Value } from '../go/values.ts';
import { readAllYaml } from '../yaml/read.ts';
import { YamlError } from '../yaml/yaml-error.ts';
import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';

/** An object of a release, and what serves it. */
export interface ReleaseObject {
  readonly object: KubeObject;
  readonly kind: Kind;
}

/** For texts: `Deployment shop/web`. */
export function objectText({ object }: Pick<ReleaseObject, 'object'>): string {
  const { namespace, name } = object.metadata;
  return `${object.kind} ${namespace ? `${namespace}/` : ''}${name ?? ''}`;
}

/** Tells objects apart, whatever version they are written in. */
export function identityOf({ object, kind }: ReleaseObject): string {
  return `${kind.group}/${kind.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

/** Reads the objects of a manifest; those that live in a namespace and name none go to that of the release. `source` is what an error calls it. */
export async function readObjects(
  client: Client,
  manifest: string,
  namespace: string,
  source = 'the manifest of the release',
): Promise<ReleaseObject[]> {
  const found: ReleaseObject[] = [];
  for (const document of documentsOf(manifest, source)) {
    // Of a document that holds nothing but comments nothing is left.
    if (document === null || document === undefined) continue;
    for (const each of listed(toPlain(document))) found.push(await resolveObject(client, asObject(each), namespace));
  }
  return found;
}

/** The objects of a revision that is recorded. A server may have dropped a version since then. */
export async function recordedObjects(
  client: Client,
  { revision, manifest }: Pick<Release, 'revision' | 'manifest'>,
  namespace: string,
): Promise<ReleaseObject[]> {
  try {
    return await readObjects(client, manifest, namespace, `the manifest of revision ${revision}`);
  } catch (error) {
    if (!(error instanceof ReleaseError) || !isUnknownKind(error.cause)) throw error;
    throw new ReleaseError('Refused', `revision ${revision}: ${error.message}`, {
      hint: 'bring its definition (CRD) back, or, where Kubernetes dropped that version, rewrite the record, as the mapkubeapis plugin of helm does',
      cause: error.cause,
    });
  }
}

function documentsOf(manifest: string, source: string): readonly Value[] {
  try {
    return readAllYaml(manifest);
  } catch (cause) {
    if (!(cause instanceof YamlError)) throw cause;
    throw new ReleaseError('Refused', `${source} cannot be read: ${cause.message}`, { cause });
  }
}

/** What a document holds: one object, or those of a list, which need not say what the list says of them. */
function listed(document: unknown): readonly unknown[] {
  if (!isRecord(document)) return [document];
  const { apiVersion, kind, items } = document;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [document];
  const itemKind = kind.slice(0, -'List'.length);
  const inherited = itemKind === '' ? {} : { apiVersion, kind: itemKind };
  return items.map((item: unknown) => (isRecord(item) && !item['kind'] ? { ...item, ...inherited } : item));
}

/** Refuses what no API server could tell what it is. Helm does so, too: what is passed over in silence would be missed later. */
function asObject(value: unknown): KubeObject {
  const object = isRecord(value) ? value : {};
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const called = typeof metadata['name'] === 'string' ? `the object ${metadata['name']}` : 'an object';
  const wrong = (field: string, what: string): ReleaseError =>
    new ReleaseError('Refused', `${called} of the chart has ${what}`, {
      hint: `look at ${field} in what slipway chart template prints`,
    });
  for (const field of ['apiVersion', 'kind'])
    if (typeof object[field] !== 'string' || object[field] === '') throw wrong(field, `no ${field}`);
  for (const field of ['name', 'namespace']) {
    const given = metadata[field] ?? '';
    if (typeof given !== 'string') throw wrong(`metadata.${field}`, `a metadata.${field} that is no text`);
  }
  for (const field of ['labels', 'annotations'])
    if (!isRecord(metadata[field] ?? {})) throw wrong(`metadata.${field}`, `metadata.${field} that are no map`);
  return object as unknown as KubeObject;
}

/** Refuses objects without a name, before anything is written: server-side apply takes none whose name the server is to choose. */
export function refuseNameless(objects: readonly ReleaseObject[]): void {
  const nameless = objects.find(({ object }) => !object.metadata.name);
  if (nameless === undefined) return;
  const { kind, metadata } = nameless.object;
  const what = metadata.generateName ? `with generateName ${metadata.generateName} ` : '';
  throw new ReleaseError('Refused', `a ${kind} ${what}of the chart has no metadata.name`, {
    hint: 'give it a name: objects of a release have to be found again',
  });
}

async function resolveObject(client: Client, object: KubeObject, namespace: string): Promise<ReleaseObject> {
  try {
    const kind = await client.resolve(object.apiVersion, object.kind);
    const { namespace: own, ...metadata } = object.metadata ?? {};
    const placed = kind.scope === 'Namespaced' ? { namespace: own || namespace, ...metadata } : metadata;
    return { kind, object: { ...object, metadata: placed } };
  } catch (error) {
    if (!isUnknownKind(error)) throw error;
    throw new ReleaseError('Refused', `the cluster does not know ${object.kind} of ${object.apiVersion}`, {
      hint: 'install what brings its definition (CRD) first',
      cause: error,
    });
  }
}
