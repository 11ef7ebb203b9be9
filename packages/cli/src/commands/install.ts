import {
  CommandError,
  exitCodes,
  type ConnectedCluster,
  type KubeObject,
  Namespace,
  styled,
  type Terminal,
  yamlStream,
} from '@slipway/kube';
import {
  annotations,
  AppliedMemo,
  applySet,
  isMember,
  leftOver,
  pruneMembers,
  refKey,
  refOf,
  refText,
  waitingText,
  type SetResult,
} from '@slipway/manifests';

import { defaultNamespace, installObjects, type InstallOptions } from '../install-objects.ts';
import { findInstalled, installMembership } from '../installed-set.ts';
import { writeLine } from '../view/write-line.ts';
import { defaultTimeoutMs, timeoutFlag, waitUntilDone } from '../waiting.ts';
import { slipwayCommand, type SlipwayContext } from '../slipway-command.ts';

const installFlags = {
  namespace: { type: 'string', value: 'name', summary: 'where it runs (default: slipway-system)' },
  image: { type: 'string', value: 'name', summary: 'image to run (default: slipway with the version of this command)' },
  replicas: {
    type: 'integer',
    value: 'number',
    least: 0,
    summary: 'how many pods; one of them leads (default: 2)',
  },
  timeout: timeoutFlag,
  wait: { type: 'boolean', default: true, summary: 'do not wait until it runs' },
  print: { type: 'boolean', summary: 'print the objects instead of applying them' },
} as const;

/** `slipway install`: puts Slipway itself onto the cluster and waits until it runs. Again: brings it up to date. */
export const command = slipwayCommand({
  connection: true,
  takesOperators: true,
  flags: installFlags,
  examples: [{ line: 'slipway install operand' }, { line: 'slipway install --print | kubectl diff -f -' }],
  run: install,
});

async function install(context: SlipwayContext<typeof installFlags>): Promise<void> {
  const { terminal, version, flags } = context;
  const { operators } = await context.choice();
  const options: InstallOptions = {
    version,
    namespace: flags.namespace ?? defaultNamespace,
    image: flags.image,
    replicas: flags.replicas,
  };
  const objects = installObjects(operators, options);
  if (flags.print) {
    terminal.out(yamlStream(objects));
    return;
  }
  await using cluster = await context.connect();
  const members = await withoutForeignNamespace(cluster, objects.map(removable), terminal.signal);
  const names = operators.map((operator) => operator.name).join(', ');
  writeLine(terminal, `installing ${names} in namespace ${options.namespace} (${cluster.origin})`);
  const progress = new Progress(terminal);
  const memo = new AppliedMemo();
  await waitUntilDone(terminal, flags.timeout ?? defaultTimeoutMs, async () => {
    const result = await applySet({
      client: cluster.client,
      objects: members,
      fieldManager: 'slipway-install',
      membership: installMembership,
      memo,
      ...(!flags.wait ? { gate: () => false } : {}),
      signal: terminal.signal,
    });
    progress.report(result);
    refuseFailure(result);
    return { waitsFor: result.state === 'waiting' ? waitingText(result) : undefined };
  });
  await pruneOldRoles(context, cluster, members);
  terminal.out(`${styled(terminal, 'green', 'installed')}; slipway status shows what it manages\n`);
}

/** Definitions and namespaces stay by default when a set is pruned; uninstalling is meant to take them. */
function removable(object: KubeObject): KubeObject {
  if (object.kind !== 'Namespace' && object.kind !== 'CustomResourceDefinition') return object;
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [annotations.prune]: 'enabled' } },
  };
}

/** A namespace that was there before is somebody else's: it is used, not owned, and stays when Slipway goes. */
async function withoutForeignNamespace(
  { client }: ConnectedCluster,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<KubeObject[]> {
  const kept: KubeObject[] = [];
  for (const object of objects) {
    if (object.kind === 'Namespace') {
      const live = await client.get(Namespace, { name: object.metadata.name! }, { signal });
      if (live && !isMember(live, installMembership)) continue;
    }
    kept.push(object);
  }
  return kept;
}

/** Says what became of each object, once. */
class Progress {
  readonly #terminal: Terminal;
  readonly #said = new Set<string>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  report(result: SetResult): void {
    for (const { ref, action } of result.members) {
      if (action === 'pending' || action === 'failed' || action === 'waiting') continue;
      const key = refKey(ref);
      if (this.#said.has(key)) continue;
      this.#said.add(key);
      writeLine(this.#terminal, `  ${action.padEnd(10)} ${refText(ref)}`);
    }
  }
}

function refuseFailure(result: SetResult): void {
  const failed = result.members.filter((member) => member.action === 'failed');
  if (failed.length === 0) return;
  const forbidden = failed.some((member) => /forbidden/i.test(member.message ?? ''));
  throw new CommandError(failed.map((member) => `${refText(member.ref)}: ${member.message}`).join('; '), {
    hint: forbidden
      ? 'installing needs an administrator of the cluster; --print shows what would be applied'
      : 'correct the cause and run the command again; it goes on where it stopped',
    exitCode: forbidden ? exitCodes.notAllowed : exitCodes.failed,
  });
}

/** What an earlier install with other choices left. Definitions stay: deleting one deletes everybody's objects of that kind. */
async function pruneOldRoles(
  { terminal, operators, version }: Pick<SlipwayContext, 'terminal' | 'operators' | 'version'>,
  { client }: ConnectedCluster,
  members: readonly KubeObject[],
): Promise<void> {
  const installed = await findInstalled(client, installObjects(await operators(), { version }), terminal.signal);
  const entries = leftOver(installed, members.map(refOf)).filter(
    (entry) => entry.kind !== 'CustomResourceDefinition' && entry.kind !== 'Namespace',
  );
  if (entries.length === 0) return;
  const { members: gone } = await pruneMembers({ client, entries, signal: terminal.signal });
  for (const { ref, action, message } of gone) {
    writeLine(terminal, `  ${action.padEnd(10)} ${refText(ref)}${message ? `: ${message}` : ''}`);
  }
}
