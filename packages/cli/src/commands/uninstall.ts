import {
  type Client,
  type ConnectedCluster,
  CommandError,
  type DefinedKind,
  exitCodes,
  isNotFound,
  isUnknownKind,
  keyOf,
  keyText,
  type KubeObject,
  styled,
  type Terminal,
} from '@slipway/kube';
import { pruneMembers, refText, type InventoryEntry } from '@slipway/manifests';

import type { OperatorDescription } from '@slipway/runtime';

import { installObjects } from '../install-objects.ts';
import { findInstalled } from '../installed-set.ts';
import { writeLine } from '../view/write-line.ts';
import { defaultTimeoutMs, timeoutFlag, waitUntilDone } from '../waiting.ts';
import { slipwayCommand } from '../slipway-command.ts';

/** More names than this help nobody. */
const namedAtMost = 5;

/** `slipway uninstall`: takes off what `slipway install` put on, in reverse order. The operators' objects go first, while the operators run. */
export const command = slipwayCommand({
  connection: true,
  flags: {
    force: {
      type: 'boolean',
      summary: 'delete the objects the operators manage, and what they installed, too',
      perCall: true,
    },
    timeout: timeoutFlag,
  },
  examples: [{ line: 'slipway uninstall' }],
  async run({ terminal, version, operators, connect, flags }) {
    const all = await operators();
    await using cluster = await connect();
    await uninstall({ terminal, version, operators: all, cluster }, flags.force, flags.timeout ?? defaultTimeoutMs);
  },
});

interface Uninstalling {
  readonly terminal: Terminal;
  readonly version: string;
  readonly operators: readonly OperatorDescription[];
  readonly cluster: ConnectedCluster;
}

async function uninstall(
  { terminal, version, operators, cluster }: Uninstalling,
  force: boolean,
  timeoutMs: number,
): Promise<void> {
  const { signal } = terminal;
  const { client } = cluster;
  const installed = await findInstalled(client, installObjects(operators, { version }), signal);
  if (installed.length === 0)
    throw new CommandError('slipway install has put nothing onto this cluster', {
      hint: 'what came with helm or kubectl goes with helm uninstall or kubectl delete -k',
      exitCode: exitCodes.notInstalled,
    });
  const kinds = installedKinds(
    operators.flatMap((operator) => operator.kinds),
    installed,
  );
  const objects = await objectsOf(client, kinds, signal);
  if (objects.length > 0 && !force)
    throw new CommandError(
      `${objects.length} ${objects.length === 1 ? 'object is' : 'objects are'} still managed: ${named(objects)}`,
      {
        hint: 'delete them first (what they installed goes with them), or let --force do it',
      },
    );
  terminal.out(`uninstalling from ${cluster.origin}\n`);
  const said = new Set<string>();
  await waitUntilDone(terminal, timeoutMs, async () => ({ waitsFor: await deleteObjects(client, kinds, terminal) }));
  await waitUntilDone(terminal, timeoutMs, async () => ({
    waitsFor: await removeMembers(client, installed, terminal, said),
  }));
  terminal.out(`${styled(terminal, 'green', 'uninstalled')}; nothing of slipway is left\n`);
}

function installedKinds(kinds: readonly DefinedKind[], installed: readonly InventoryEntry[]): DefinedKind[] {
  const names = new Set(
    installed.filter((entry) => entry.kind === 'CustomResourceDefinition').map((entry) => entry.name),
  );
  return kinds.filter((kind) => names.has(`${kind.plural}.${kind.group}`));
}

interface OperatorObject {
  readonly kind: DefinedKind;
  readonly object: KubeObject;
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

function named(objects: readonly OperatorObject[]): string {
  const names = objects.slice(0, namedAtMost).map(textOf).join(', ');
  return objects.length > namedAtMost ? `${names} and ${objects.length - namedAtMost} more` : names;
}

/** One pass: what nobody owns is deleted, the operators remove the rest. Says what is still there. */
async function deleteObjects(
  client: Client,
  kinds: readonly DefinedKind[],
  terminal: Terminal,
): Promise<string | undefined> {
  const objects = await objectsOf(client, kinds, terminal.signal);
  if (objects.length === 0) return undefined;
  const roots = objects.filter(({ object }) => (object.metadata.ownerReferences ?? []).length === 0);
  // Objects whose owner is gone already are roots too.
  for (const { kind, object } of roots.length > 0 ? roots : objects) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    await client.delete(kind, keyOf(object), { preconditions: { uid: object.metadata.uid! }, signal: terminal.signal });
    writeLine(terminal, `  deleted    ${textOf({ kind, object })}`);
  }
  return named(objects);
}

async function removeMembers(
  client: Client,
  entries: readonly InventoryEntry[],
  terminal: Terminal,
  said: Set<string>,
): Promise<string | undefined> {
  const { state, members } = await pruneMembers({ client, entries, signal: terminal.signal });
  for (const { ref, action } of members) {
    const going = action === 'deleted' || action === 'terminating';
    if (!going || said.has(refText(ref))) continue;
    said.add(refText(ref));
    writeLine(terminal, `  ${action === 'deleted' ? 'deleted ' : 'deleting'}   ${refText(ref)}`);
  }
  if (state === 'pruned') return undefined;
  const failed = members.filter((member) => member.action === 'failed');
  if (failed.length > 0) {
    const forbidden = failed.some((member) => /forbidden/i.test(member.message ?? ''));
    throw new CommandError(failed.map((member) => `${refText(member.ref)}: ${member.message}`).join('; '), {
      exitCode: forbidden ? exitCodes.notAllowed : exitCodes.failed,
    });
  }
  return members
    .filter((member) => member.action === 'terminating')
    .map((member) => refText(member.ref))
    .join(', ');
}
