import { type Clock, jsonEqual, type KubeObject, seconds } from '@slipway/kube';
import {
  applySet,
  type Inventory,
  leftOver,
  memberLabel,
  mergeInventories,
  type MemberResult,
  membershipOf,
  pruneMembers,
  refOf,
  type SetResult,
} from '@slipway/manifests';

import { targetOf } from '../api-server/target-of.ts';
import { ComponentError } from '../component/component-error.ts';
import type { ComponentContext, ComponentOutcome } from '../component/define-component.ts';
import { names } from '../names.ts';
import type { TargetWatch } from '../target/target-watch.ts';
import type { ConnectTarget, Target } from '../target/target.ts';
import type { TargetKind } from '../target/watched-cluster.ts';
import type { Catalogue, PartContent } from './catalogue.ts';
import { installChart, releaseNameOf, uninstallChart } from './chart-part.ts';
import { dropRecord, type PartRecord, readRecord, writeRecord } from './part-record.ts';
import { type Part, parts, wantedParts } from './parts.ts';

const pollMs = seconds(10);

/** Installs what the spec asks for, each part as a set of its own, and takes away what it no longer asks for. */
export async function installParts(
  context: ComponentContext<'CloudOrchestrator'>,
  { connect, targetWatch }: { readonly connect: ConnectTarget; readonly targetWatch: TargetWatch },
  catalogue: Catalogue,
): Promise<ComponentOutcome<'CloudOrchestrator'>> {
  const target = await targetOf(context, connect);
  const wanted = new Map(wantedParts(context.component.spec));
  // All are looked up before the first is touched: a version that does not exist changes nothing.
  const contents = new Map<Part, PartContent>();
  for (const [part, version] of wanted) contents.set(part, await catalogue.contentOf(part, version));
  const place = { target, clock: context.clock, signal: context.signal };
  const waiting: string[] = [];
  for (const part of parts) {
    const content = contents.get(part);
    const left = content ? await installPart(place, part, content) : await uninstallPart(place, part);
    if (left) waiting.push(`${part}: ${left}`);
  }
  targetWatch.follow(context.key, target, await memberKinds(target, [...contents.values()]));
  const unhealthy = waiting.filter((text) => wanted.has(text.split(':')[0] as Part)).length;
  const status = { componentsEnabled: wanted.size, componentsHealthy: wanted.size - unhealthy };
  if (waiting.length === 0) return { status, readiness: { ready: true } };
  const readiness = { ready: false, reason: 'WaitingForCloudOrchestrator', message: waiting.join('; ') } as const;
  return { status, readiness, requeueAfterMs: pollMs };
}

/** The kinds of what was installed from manifests, as far as the control plane knows them: somebody may change or delete it. */
async function memberKinds({ client }: Target, contents: readonly PartContent[]): Promise<TargetKind[]> {
  const objects = contents.flatMap((content) => ('objects' in content ? content.objects : []));
  const kinds = new Map<string, TargetKind>();
  for (const { apiVersion, kind: name } of objects) {
    const id = `${apiVersion}/${name}`;
    const kind = kinds.has(id) ? undefined : await client.resolve(apiVersion, name).catch(() => undefined);
    if (kind) kinds.set(id, { kind, labelSelector: memberLabel, metadataOnly: true });
  }
  return [...kinds.values()];
}

/** Takes all of it away; nothing of it may be left when the API server goes, or when somebody else takes over. */
export async function uninstallParts(context: ComponentContext<'CloudOrchestrator'>, connect: ConnectTarget) {
  const target = await targetOf(context, connect);
  const waiting: string[] = [];
  for (const part of parts) {
    const left = await uninstallPart({ target, clock: context.clock, signal: context.signal }, part);
    if (left) waiting.push(`${part}: ${left}`);
  }
  if (waiting.length === 0) return undefined;
  const left = { reason: 'ComponentIsInDeletion', message: waiting.join('; ') } as const;
  return { waiting: left, requeueAfterMs: pollMs };
}

interface Workplace {
  readonly target: Target;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const releaseContext = ({ target: { client }, clock, signal }: Workplace) => ({ client, clock, signal });

async function installPart(place: Workplace, part: Part, content: PartContent): Promise<string | undefined> {
  const { client } = place.target;
  let before = await readRecord(client, part);
  if (isOtherwise(before, part, content)) {
    const left = await uninstallPart(place, part);
    if (left) return left;
    before = { inventory: [] };
  }
  if ('objects' in content) return await installObjects(place, part, content.objects, before.inventory);
  // Written down before anything is made: after a crash in between, whoever comes next knows what may be there.
  await writeRecord(client, part, { inventory: [], release: releaseNameOf(part, content) });
  return await installChart(releaseContext(place), part, content);
}

/** What a version is made of may change with it: a chart for manifests, or a chart elsewhere. Then the old goes first. */
function isOtherwise({ inventory, release }: PartRecord, part: Part, content: PartContent): boolean {
  if ('objects' in content) return release !== undefined;
  const moved = release !== undefined && !jsonEqual(release, releaseNameOf(part, content));
  return inventory.length > 0 || moved;
}

async function installObjects(
  { target: { client }, signal }: Workplace,
  part: Part,
  objects: readonly KubeObject[],
  before: Inventory,
): Promise<string | undefined> {
  const refs = objects.map((object) => refOf(object));
  await writeRecord(client, part, { inventory: mergeInventories(before, refs) });
  const { state, members } = await applySet({ client, objects, ...ownership(part), signal });
  refuse(part, state, members);
  const made = members.map(({ ref, uid }) => ({ ...ref, uid }));
  const gone = leftOver(before, refs);
  const pruned = await pruneMembers({ client, entries: gone, ...ownership(part), signal });
  await writeRecord(client, part, { inventory: pruned.state === 'pruned' ? made : mergeInventories(gone, made) });
  if (state === 'waiting') return unhealthyText(members);
  return pruned.state === 'pruned' ? undefined : 'objects of the version before are still there';
}

async function uninstallPart(place: Workplace, part: Part): Promise<string | undefined> {
  const { client } = place.target;
  const { inventory: entries, release } = await readRecord(client, part);
  if (release) {
    const left = await uninstallChart(releaseContext(place), part, release);
    if (left) return left;
  }
  if (entries.length > 0) {
    const { state, members, message } = await pruneMembers({
      client,
      entries,
      ...ownership(part),
      signal: place.signal,
    });
    if (state !== 'pruned') {
      const first = members.find(({ action }) => action !== 'deleted' && action !== 'gone');
      return message ?? `${first?.ref.kind} ${first?.ref.name} is still there`;
    }
  }
  if (release || entries.length > 0) await dropRecord(client, part);
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
