import {
  firstOfMany,
  CommandError,
  exitCodes,
  isForbidden,
  isNotFound,
  isUnknownKind,
  keyOf,
  keyText,
  type Client,
  type DeepReadonly,
  type DefinedKind,
  type KubeObject,
  type Terminal,
} from '@slipway/kube';
import { pruneMembers, refText, type PrunedMember } from '@slipway/manifests';

import type { InstalledEntry } from './installed-set.ts';
import { writeLine } from './view/write-line.ts';
import { waitUntilDone } from './waiting.ts';

/** More names than this help nobody. */
const namedAtMost = 5;

/** An object an operator manages. */
interface OperatorObject {
  readonly kind: DefinedKind;
  readonly object: KubeObject;
}

export interface Removal {
  readonly client: Client;
  readonly terminal: Terminal;
  /** Kinds whose objects go first, while the operators run: only they remove what they installed. */
  readonly kinds: readonly DefinedKind[];
  /** What goes then, in reverse order of how it came. */
  readonly entries: readonly InstalledEntry[];
  readonly timeoutMs: number;
}

/** Refuses to take definitions away while objects of their kinds exist: these would go without the operators cleaning up. */
export async function refuseWhileManaged({ client, terminal, kinds }: Removal): Promise<void> {
  const objects = await objectsOf(client, kinds, terminal.signal);
  if (objects.length === 0) return;
  throw new CommandError(
    `${objects.length} ${objects.length === 1 ? 'object is' : 'objects are'} still managed: ${named(objects.map(textOf))}`,
    { hint: 'delete them first (what they installed goes with them), or let --force do it' },
  );
}

/** Takes everything off and waits until it is gone. */
export async function remove(removal: Removal): Promise<void> {
  const { terminal, timeoutMs } = removal;
  const said = new Set<string>();
  await waitUntilDone(terminal, timeoutMs, async () => ({ waitsFor: await deleteObjects(removal) }));
  await waitUntilDone(terminal, timeoutMs, async () => ({ waitsFor: await removeMembers(removal, said) }));
}

async function objectsOf(
  client: Client,
  kinds: readonly DefinedKind[],
  signal: AbortSignal,
): Promise<OperatorObject[]> {
  const found: OperatorObject[] = [];
  for (const kind of kinds) {
    try {
      for await (const object of client.list(kind, { signal })) found.push({ kind, object });
    } catch (error) {
      if (!isNotFound(error) && !isUnknownKind(error)) throw error;
    }
  }
  return found;
}

function textOf({ kind, object }: OperatorObject): string {
  return `${kind.kind} ${keyText(keyOf(object))}`;
}

function named(texts: readonly string[]): string {
  return firstOfMany(texts, { shown: namedAtMost, separator: ', ' });
}

/** One pass: what nobody owns is deleted, the operators remove the rest. Says what is still there, and why. */
async function deleteObjects({ client, kinds, terminal }: Removal): Promise<string | undefined> {
  const objects = await objectsOf(client, kinds, terminal.signal);
  const roots = objects.filter(({ object }) => (object.metadata.ownerReferences ?? []).length === 0);
  // Objects whose owner is gone already are roots too.
  for (const { kind, object } of roots.length > 0 ? roots : objects) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    await client.delete(kind, keyOf(object), { preconditions: { uid: object.metadata.uid! }, signal: terminal.signal });
    writeLine(terminal, `  deleted    ${textOf({ kind, object })}`);
  }
  // Read again: what was deleted says only now what holds it.
  const left = await objectsOf(client, kinds, terminal.signal);
  return left.length === 0 ? undefined : named(left.map((each) => `${textOf(each)}${heldBy(each.object)}`));
}

async function removeMembers(removal: Removal, said: Set<string>): Promise<string | undefined> {
  const { client, entries, terminal } = removal;
  const { state, members } = await pruneMembers({ client, entries, signal: terminal.signal });
  for (const { ref, action } of members) {
    const going = action === 'deleted' || action === 'terminating';
    if (!going || said.has(refText(ref))) continue;
    said.add(refText(ref));
    writeLine(terminal, `  ${action === 'deleted' ? 'deleted ' : 'deleting'}   ${refText(ref)}`);
  }
  if (state === 'pruned') return undefined;
  refuseFailure(members);
  const going = members.filter((member) => member.action === 'terminating');
  return named(await Promise.all(going.map((member) => whatHolds(removal, member))));
}

function refuseFailure(members: readonly PrunedMember[]): void {
  const failed = members.filter((member) => member.action === 'failed');
  if (failed.length === 0) return;
  const forbidden = failed.some((member) => isForbidden(member.error));
  throw new CommandError(failed.map((member) => `${refText(member.ref)}: ${member.message}`).join('; '), {
    exitCode: forbidden ? exitCodes.notAllowed : exitCodes.failed,
  });
}

/** A member that is going, with what keeps it: its finalizers, or what the server says about a namespace or a definition. */
async function whatHolds({ client, terminal }: Removal, { ref }: PrunedMember): Promise<string> {
  const kind = await client.resolveGroupKind(ref.group, ref.kind, { signal: terminal.signal });
  const live = await client.get(kind, { namespace: ref.namespace, name: ref.name }, { signal: terminal.signal });
  return `${refText(ref)}${live ? heldBy(live) : ''}`;
}

/** Why an object that was deleted is still there, in brackets. Empty when it does not say. */
function heldBy(object: DeepReadonly<KubeObject>): string {
  if (object.metadata.deletionTimestamp === undefined) return '';
  const { finalizers = [] } = object.metadata;
  const conditions = (object['status'] as { conditions?: readonly StatedCondition[] } | undefined)?.conditions ?? [];
  const remaining = conditions.filter(
    ({ type, status }) => status === 'True' && /Remaining|Failure|Terminating/.test(type),
  );
  const stated =
    remaining.length > 0 ? remaining : conditions.filter(({ type, status }) => type === 'Ready' && status !== 'True');
  const reasons = [
    ...(finalizers.length > 0 ? [`finalizers ${finalizers.join(', ')}`] : []),
    ...stated.flatMap(({ message }) => (message ? [message] : [])),
  ];
  return reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
}

interface StatedCondition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}
