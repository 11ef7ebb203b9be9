import { cloneJson } from '../../clone-json.ts';
import { ApiError } from '../../api-error.ts';
import type { LocalClient } from '../../local-client.ts';
import type { ApiObject } from '../../object.ts';
import type { Informer } from '../informer.ts';
import type { PodTemplate } from './kinds.ts';
import { controllerOf, controllerReference } from './ownership.ts';
import { stableJson, templateHash } from './template-hash.ts';

const REVISIONS = { group: 'apps', version: 'v1', plural: 'controllerrevisions' };
const HASH_LABEL = 'controller.kubernetes.io/hash';

export interface ControllerRevision extends ApiObject {
  revision: number;
  data?: { spec: { template: PodTemplate & { $patch?: string } } };
}

/** The recorded templates of a StatefulSet or DaemonSet, oldest first. */
export function revisionsOf(owner: ApiObject, informer: Informer): ControllerRevision[] {
  return [...(informer.list(owner.metadata.namespace) as Iterable<ControllerRevision>)]
    .filter((revision) => controllerOf(revision)?.uid === owner.metadata.uid)
    .sort((a, b) => a.revision - b.revision);
}

/** The revision of the owner's present template, recorded if it is new, with the highest number. */
export async function recordRevision(
  client: LocalClient,
  owner: ApiObject,
  template: PodTemplate,
  informer: Informer,
): Promise<ControllerRevision> {
  const known = revisionsOf(owner, informer);
  const data = { spec: { template: { ...cloneJson(template), $patch: 'replace' } } };
  const wanted = stableJson(data);
  const same = known.find((revision) => stableJson(revision.data) === wanted);
  const highest = known.at(-1)?.revision ?? 0;
  const { namespace } = owner.metadata;
  if (same) {
    if (same.revision === highest) {
      return same;
    }
    const address = { ...REVISIONS, namespace, name: same.metadata.name! };
    return (await client.update(address, { ...same, revision: highest + 1 })) as ControllerRevision;
  }
  const hash = templateHash(template);
  const object: ControllerRevision = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
      ownerReferences: [controllerReference(owner)],
    },
    data,
    revision: highest + 1,
  };
  return (await client.create({ ...REVISIONS, namespace }, object)) as ControllerRevision;
}

/** The short form pods carry in their `controller-revision-hash` label (DaemonSets; StatefulSets use the whole name). */
export function hashOf(revision: ControllerRevision): string {
  return revision.metadata.labels![HASH_LABEL]!;
}

/** Deletes the oldest revisions beyond the limit that no pod uses. */
export async function trimRevisions(
  client: LocalClient,
  owner: ApiObject,
  informer: Informer,
  inUse: ReadonlySet<string>,
  limit: number,
): Promise<void> {
  const idle = revisionsOf(owner, informer).filter((revision) => !inUse.has(revision.metadata.name!));
  for (const { metadata } of idle.slice(0, Math.max(0, idle.length - limit))) {
    try {
      await client.delete({ ...REVISIONS, namespace: metadata.namespace, name: metadata.name! });
    } catch (error) {
      if (!(error instanceof ApiError && error.status.code === 404)) {
        throw error;
      }
    }
  }
}
