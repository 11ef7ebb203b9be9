import { ConfigMap, type KubeObject, Namespace, seconds } from '@slipway/kube';
import {
  applySet,
  type Inventory,
  leftOver,
  mergeInventories,
  type MemberResult,
  membershipOf,
  pruneMembers,
  refOf,
  type SetResult,
} from '@slipway/manifests';

import { targetOf } from '../api-server/target-of.ts';
import { applyOnce } from '../apply-once.ts';
import { ComponentError } from '../component/component-error.ts';
import type { ComponentContext, ComponentOutcome } from '../component/define-component.ts';
import { names } from '../names.ts';
import type { ConnectTarget, Target } from '../target/target.ts';
import type { Catalogue } from './catalogue.ts';
import { type Part, parts, wantedParts } from './parts.ts';

const pollMs = seconds(10);

/** Installs what the spec asks for, each part as a set of its own, and takes away what it no longer asks for. */
export async function installParts(
  context: ComponentContext<'CloudOrchestrator'>,
  connect: ConnectTarget,
  catalogue: Catalogue,
): Promise<ComponentOutcome<'CloudOrchestrator'>> {
  const target = await targetOf(context, connect);
  const wanted = new Map(wantedParts(context.component.spec));
  // All are looked up before the first is touched: a version that does not exist changes nothing.
  const sets = new Map<Part, readonly KubeObject[]>();
  for (const [part, version] of wanted) sets.set(part, await catalogue.objectsOf(part, version));
  const waiting: string[] = [];
  for (const part of parts) {
    const objects = sets.get(part);
    const left = objects
      ? await installPart(target, part, objects, context.signal)
      : await uninstallPart(target, part, context.signal);
    if (left) waiting.push(`${part}: ${left}`);
  }
  const unhealthy = waiting.filter((text) => wanted.has(text.split(':')[0] as Part)).length;
  const status = { componentsEnabled: wanted.size, componentsHealthy: wanted.size - unhealthy };
  if (waiting.length === 0) return { status, readiness: { ready: true } };
  const readiness = { ready: false, reason: 'WaitingForCloudOrchestrator', message: waiting.join('; ') } as const;
  return { status, readiness, requeueAfterMs: pollMs };
}

/** Takes all of it away; nothing of it may be left when the API server goes, or when somebody else takes over. */
export async function uninstallParts(context: ComponentContext<'CloudOrchestrator'>, connect: ConnectTarget) {
  const target = await targetOf(context, connect);
  const waiting: string[] = [];
  for (const part of parts) {
    const left = await uninstallPart(target, part, context.signal);
    if (left) waiting.push(`${part}: ${left}`);
  }
  if (waiting.length === 0) return undefined;
  const left = { reason: 'ComponentIsInDeletion', message: waiting.join('; ') } as const;
  return { waiting: left, requeueAfterMs: pollMs };
}

async function installPart(
  { client }: Target,
  part: Part,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const before = await readInventory(client, part);
  const refs = objects.map((object) => refOf(object));
  // Written down before anything is made: after a crash in between, whoever comes next knows what may be there.
  await writeInventory(client, part, mergeInventories(before, refs));
  const { state, members } = await applySet({ client, objects, ...ownership(part), signal });
  refuse(part, state, members);
  const made = members.map(({ ref, uid }) => ({ ...ref, uid }));
  const gone = leftOver(before, refs);
  const pruned = await pruneMembers({ client, entries: gone, ...ownership(part), signal });
  await writeInventory(client, part, pruned.state === 'pruned' ? made : mergeInventories(gone, made));
  if (state === 'waiting') return unhealthyText(members);
  return pruned.state === 'pruned' ? undefined : 'objects of the version before are still there';
}

async function uninstallPart({ client }: Target, part: Part, signal: AbortSignal): Promise<string | undefined> {
  const entries = await readInventory(client, part);
  if (entries.length === 0) return undefined;
  const { state, members, message } = await pruneMembers({ client, entries, ...ownership(part), signal });
  if (state !== 'pruned') {
    const first = members.find(({ action }) => action !== 'deleted' && action !== 'gone');
    return message ?? `${first?.ref.kind} ${first?.ref.name} is still there`;
  }
  await client.delete(ConfigMap, inventoryKey(part));
  return undefined;
}

function ownership(part: Part) {
  return {
    fieldManager: `control-plane-${part.toLowerCase()}`,
    membership: membershipOf(`CloudOrchestrator.${names.group}/${part}`),
  };
}

function refuse(part: Part, state: SetResult['state'], members: readonly MemberResult[]): void {
  if (state !== 'failed') return;
  const failed = members.find(({ action }) => action === 'failed');
  const text = failed?.message ?? 'an object was refused';
  throw new ComponentError('COCoreClusterInteractionProblem', `${part} could not be installed: ${text}`);
}

function unhealthyText(members: readonly MemberResult[]): string {
  const first = members.find(({ health, action }) => action === 'pending' || (health && health.status !== 'Current'));
  if (!first) return 'is starting';
  return `${first.ref.kind} ${first.ref.name}: ${first.health?.message ?? 'not reached yet'}`;
}

function inventoryKey(part: Part) {
  return { namespace: names.systemNamespace, name: `cloud-orchestrator-${part.toLowerCase()}` };
}

const dataKey = 'inventory';

async function readInventory(client: Target['client'], part: Part): Promise<Inventory> {
  const text = (await client.get(ConfigMap, inventoryKey(part)))?.data?.[dataKey];
  return text === undefined ? [] : (JSON.parse(text) as Inventory);
}

async function writeInventory(client: Target['client'], part: Part, inventory: Inventory): Promise<void> {
  const system = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: names.systemNamespace } };
  if ((await client.get(Namespace, { name: names.systemNamespace })) === undefined) await client.apply(system);
  await applyOnce(client, ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: inventoryKey(part),
    data: { [dataKey]: JSON.stringify(inventory) },
  });
}
