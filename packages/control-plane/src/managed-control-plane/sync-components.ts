import { type Client, isNotFound, isTerminating, jsonEqual, type KubeObject, type ObjectKey } from '@slipway/kube';

import type { ReadonlyComponent } from '../component/component-resource.ts';
import { type ComponentType, kindOf } from '../component/component-type.ts';
import {
  type CreatedFrom,
  createdFromOrNone,
  generateCreatedFromGenerationPatch,
} from '../component/created-from-generation.ts';
import type { Desired } from './desired-components.ts';

export type Existing = ReadonlyMap<ComponentType, ReadonlyComponent>;

export interface SyncInput {
  readonly client: Client;
  readonly key: ObjectKey;
  readonly existing: Existing;
  readonly desired: Desired;
  readonly createdFrom: CreatedFrom;
  readonly forced: boolean;
}

/** Makes, changes and deletes component resources. One that fails does not stop the others; the failures come back. */
export async function syncComponents(input: SyncInput): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const type of new Set([...input.existing.keys(), ...input.desired.keys()])) {
    try {
      const wanted = input.desired.get(type);
      const present = input.existing.get(type);
      if (wanted !== undefined) await ensureComponent(input.client, type, present, wanted);
      else if (present !== undefined) await dropComponent(input, type, present);
    } catch (error) {
      failures.push(error);
    }
  }
  return failures;
}

/** Keys with this prefix are ours: what is not generated goes. */
const ownPrefix = 'openmcp.cloud';

async function ensureComponent(
  client: Client,
  type: ComponentType,
  present: ReadonlyComponent | undefined,
  wanted: KubeObject,
): Promise<void> {
  if (present === undefined) {
    await client.create(wanted);
    return;
  }
  const metadata = {
    labels: merged(present.metadata.labels, wanted.metadata.labels),
    annotations: merged(present.metadata.annotations, wanted.metadata.annotations),
    ownerReferences: wanted.metadata.ownerReferences,
  };
  const spec = wanted['spec'];
  const same =
    jsonEqual(metadata.labels, present.metadata.labels ?? {}) &&
    jsonEqual(metadata.annotations, present.metadata.annotations ?? {}) &&
    jsonEqual(metadata.ownerReferences, present.metadata.ownerReferences ?? []) &&
    jsonEqual(spec, present.spec);
  if (same) return;
  const { uid, resourceVersion, finalizers, name, namespace } = present.metadata;
  const { apiVersion, kind } = kindOf(type);
  await client.update({
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      ...(finalizers ? { finalizers: [...finalizers] } : {}),
      ...metadata,
    },
    spec,
  });
}

function merged(
  present: Readonly<Record<string, string>> | undefined,
  generated: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const foreign = Object.entries(present ?? {}).filter(([key]) => !key.startsWith(ownPrefix));
  return { ...Object.fromEntries(foreign), ...generated };
}

async function dropComponent(
  { client, key, createdFrom, forced }: SyncInput,
  type: ComponentType,
  present: ReadonlyComponent,
): Promise<void> {
  const kind = kindOf(type);
  if (!isTerminating(present)) {
    const left = await client.delete(kind, key, { preconditions: { uid: present.metadata.uid } });
    if (left?.state !== 'terminating') return;
  }
  // Its dependencies are ready only for who has their generation: with the old one it could never go.
  if (!forced && jsonEqual(createdFromOrNone(present), createdFrom)) return;
  try {
    const body = generateCreatedFromGenerationPatch(createdFrom, forced);
    await client.patch(kind, key, {
      type: 'merge',
      body: { ...body, metadata: { ...(body['metadata'] as object), uid: present.metadata.uid } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
