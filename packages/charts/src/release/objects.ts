import type { Client, Kind, KubeObject } from '@slipway/kube';
import { isUnknownKind } from '@slipway/kube';

import { toPlain } from '../go/values.ts';
import { readAllYaml } from '../yaml/read.ts';
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

/** Reads the objects of a manifest; those that live in a namespace and name none go to that of the release. */
export async function readObjects(client: Client, manifest: string, namespace: string): Promise<ReleaseObject[]> {
  const found: ReleaseObject[] = [];
  for (const document of readAllYaml(manifest)) {
    const plain = toPlain(document) as KubeObject | null;
    for (const object of plain?.kind?.endsWith('List') && Array.isArray(plain['items'])
      ? (plain['items'] as KubeObject[])
      : [plain]) {
      if (object !== null && typeof object === 'object' && object.kind)
        found.push(await resolveObject(client, object, namespace));
    }
  }
  return found;
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
