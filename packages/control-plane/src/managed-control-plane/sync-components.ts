import {
  type Client,
  isAlreadyExists,
  isNotFound,
  isTerminating,
  jsonEqual,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
} from '@slipway/kube';

import type { ReadonlyComponent } from '../component/component-resource.ts';
import { type ComponentType, kindOf } from '../component/component-type.ts';
import {
  type CreatedFrom,
  createdFromOrNone,
  generateCreatedFromGenerationPatch,
} from '../component/created-from-generation.ts';
import type { Desired } from './desired-components.ts';
import { disabledAnnotations, isDisabledByUs, isIgnoredByOthers } from './ignored-components.ts';

export type Existing = ReadonlyMap<ComponentType, ReadonlyComponent>;

export interface SyncInput {
  readonly client: Client;
  readonly key: ObjectKey;
  readonly existing: Existing;
  readonly desired: Desired;
  /** Component types whose resources others have ignored: as if they did not exist, and could not be made. */
  readonly ignored: ReadonlySet<ComponentType>;
  readonly createdFrom: CreatedFrom;
  readonly forced: boolean;
  /** Component types the spec disables. */
  readonly disabled: readonly string[];
}

/** Makes, changes and deletes component resources. One that fails does not stop the others; the failures come back. */
export async function syncComponents(input: SyncInput): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const type of new Set([...input.existing.keys(), ...input.desired.keys()])) {
    if (input.ignored.has(type)) continue;
    try {
      const wanted = input.desired.get(type);
      const present = input.existing.get(type);
      if (wanted !== undefined) await ensureComponent(input, type, present, wanted);
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
  { client, key }: SyncInput,
  type: ComponentType,
  seen: ReadonlyComponent | undefined,
  wanted: KubeObject,
): Promise<void> {
  if (seen === undefined) {
    try {
      await client.create(wanted);
      return;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  } else if (changed(seen, wanted) === undefined) return;
  // What was seen may be old. One that has gone is made when we hear of it, and one somebody has ignored by now is not ours.
  const present = (await client.get(kindOf(type), key)) as ReadonlyComponent | undefined;
  if (present === undefined || isIgnoredByOthers(present)) return;
  const metadata = changed(present, wanted);
  if (metadata === undefined) return;
  const spec = wanted['spec'];
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

/** The metadata it should have, where that or the spec differs from what it has. */
function changed(present: ReadonlyComponent, wanted: KubeObject): Partial<ObjectMeta> | undefined {
  const metadata = {
    labels: merged(present.metadata.labels, wanted.metadata.labels),
    annotations: merged(present.metadata.annotations, wanted.metadata.annotations),
    ownerReferences: wanted.metadata.ownerReferences,
  };
  const same =
    jsonEqual(metadata.labels, present.metadata.labels ?? {}) &&
    jsonEqual(metadata.annotations, present.metadata.annotations ?? {}) &&
    jsonEqual(metadata.ownerReferences, present.metadata.ownerReferences ?? []) &&
    jsonEqual(wanted['spec'], present.spec);
  return same ? undefined : metadata;
}

function merged(
  present: Readonly<Record<string, string>> | undefined,
  generated: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const foreign = Object.entries(present ?? {}).filter(([key]) => !key.startsWith(ownPrefix));
  return { ...Object.fromEntries(foreign), ...generated };
}

async function dropComponent(
  { client, key, createdFrom, forced, disabled }: SyncInput,
  type: ComponentType,
  present: ReadonlyComponent,
): Promise<void> {
  const kind = kindOf(type);
  if (!isTerminating(present)) {
    const left = await client.delete(kind, key, { preconditions: { uid: present.metadata.uid } });
    if (left?.state !== 'terminating') return;
  }
  await enableLeaving(client, type, present, disabled);
  // Its dependencies are ready only for who has their generation: with the old one it could never go.
  if (forced || !jsonEqual(createdFromOrNone(present), createdFrom))
    await relabel(client, type, present, createdFrom, forced);
}

/**
 * Brings components that go to one generation, when a change before had reached only some of them: each waits for the others of its own
 * generation, and would for ever.
 */
export async function alignGenerations(client: Client, existing: Existing, createdFrom: CreatedFrom): Promise<void> {
  const [first, ...others] = [...existing.values()].map(createdFromOrNone);
  if (others.every((other) => jsonEqual(other, first))) return;
  for (const [type, present] of existing) {
    if (!jsonEqual(createdFromOrNone(present), createdFrom)) await relabel(client, type, present, createdFrom, false);
  }
}

/** A component that is no longer disabled has to hear that it goes, also when the change that enabled it had not reached it. */
export async function enableLeaving(
  client: Client,
  type: ComponentType,
  present: ReadonlyComponent,
  disabled: readonly string[],
): Promise<void> {
  if (!isDisabledByUs(present) || disabled.includes(type)) return;
  const annotations = Object.fromEntries(Object.keys(disabledAnnotations).map((key) => [key, null]));
  await patchPresent(client, type, present, { annotations });
}

async function relabel(
  client: Client,
  type: ComponentType,
  present: ReadonlyComponent,
  createdFrom: CreatedFrom,
  forced: boolean,
): Promise<void> {
  const { metadata } = generateCreatedFromGenerationPatch(createdFrom, forced);
  await patchPresent(client, type, present, metadata as object);
}

/** Changes the metadata of a component. One that has gone in the meantime is fine. */
async function patchPresent(
  client: Client,
  type: ComponentType,
  { metadata: { name, namespace, uid } }: ReadonlyComponent,
  metadata: object,
): Promise<void> {
  const body = { metadata: { ...metadata, uid } };
  try {
    await client.patch(kindOf(type), { name: name!, namespace }, { type: 'merge', body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
