import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  CommandError,
  Deployment,
  exitCodes,
  isForbidden,
  Namespace,
  styled,
  yamlStream,
  type Client,
  type ConnectedCluster,
  type KubeObject,
  type Terminal,
} from '@slipway/kube';
import {
  annotations,
  AppliedMemo,
  applySet,
  isMember,
  leftOver,
  refKey,
  refOf,
  refText,
  waitingText,
  type SetResult,
} from '@slipway/manifests';
import type { OperatorDescription } from '@slipway/runtime';

import { chartFiles, chartOperator } from '../chart-files.ts';
import { handleHelmDefinitions } from '../helm-leftovers.ts';
import {
  componentLabel,
  defaultNamespace,
  installObjects,
  ownVersion,
  type InstallOptions,
} from '../install-objects.ts';
import {
  definitionName,
  findInstalled,
  installedKinds,
  installMembership,
  type InstalledEntry,
} from '../installed-set.ts';
import { makeFolder, reason } from '../make-folder.ts';
import { chooseOperators } from '../operators.ts';
import { podSettings, readPodSettings } from '../pod-settings.ts';
import { refuseWhileManaged, remove } from '../removal.ts';
import { slipwayCommand, type OperatorChoice, type SlipwayContext } from '../slipway-command.ts';
import { writeLine } from '../view/write-line.ts';
import { defaultTimeoutMs, timeoutFlag, waitUntilDone } from '../waiting.ts';

const installFlags = {
  namespace: {
    type: 'string',
    value: 'name',
    summary: 'where it runs (default: where it is installed already, or slipway-system)',
  },
  image: {
    type: 'string',
    value: 'name',
    summary: 'image to run (default: the one an earlier install was told, or slipway with the version of this command)',
  },
  replicas: {
    type: 'integer',
    value: 'number',
    least: 0,
    summary: 'how many pods of each operator; one of them leads (default: as many as there are, or 2)',
  },
  set: {
    type: 'string',
    value: 'name=value',
    repeated: true,
    summary: 'a setting for the pods, by flag name; an empty value takes it back',
  },
  env: {
    type: 'string',
    value: 'name=value',
    repeated: true,
    summary: 'an environment variable for the pods; an empty value takes it back',
  },
  remove: {
    type: 'string',
    value: 'operator',
    repeated: true,
    summary: 'take this operator off; refused while objects of its kinds exist',
  },
  force: {
    type: 'boolean',
    perCall: true,
    summary: 'with --remove: delete those objects, and what they installed, too',
  },
  adopt: { type: 'boolean', perCall: true, summary: 'take over definitions that a Helm release has left behind' },
  timeout: timeoutFlag,
  wait: { type: 'boolean', default: true, summary: 'do not wait until it runs' },
  print: { type: 'boolean', summary: 'print the objects instead of applying them' },
  'write-chart': {
    type: 'string',
    value: 'dir',
    perCall: true,
    summary: 'write a Helm chart of an operator of another package instead of applying anything',
  },
} as const;

type InstallContext = SlipwayContext<typeof installFlags>;

/** `slipway install`: adds operators to the cluster and waits until they run. Again: brings them up to date. What else is installed stays as it is. */
export const command = slipwayCommand({
  connection: true,
  takesOperators: true,
  operatorFlags: 'settings',
  flags: installFlags,
  examples: [
    { line: 'slipway install operand' },
    { line: 'slipway install operand --set log-level=debug' },
    { line: 'slipway install --operator ./my-operator --image registry.example.com/my-operator:1.0.0' },
    { line: 'slipway install --remove btp-manager' },
    { line: 'slipway install --operator ./my-operator --remove my-operator' },
    { line: 'slipway install --print | kubectl diff -f -' },
  ],
  knownElsewhere: { '--dry-run': '--print prints what would be applied' },
  run: install,
});

async function install(context: InstallContext): Promise<void> {
  const { terminal, version, flags } = context;
  const all = await context.operators();
  const leaving = flags.remove.length > 0 ? chooseOperators(all, flags.remove) : [];
  const choice = await staying(context, leaving);
  const optionsWith = (namespace: string, before: Parameters<typeof podSettings>[2]): InstallOptions => ({
    version,
    namespace,
    image: flags.image,
    packageOf: choice.packageOf,
    replicas: flags.replicas,
    settingsOf: podSettings(choice, { set: flags.set, env: flags.env, file: context.file }, before),
  });
  if (flags['write-chart'] !== undefined) {
    const { operator, outside } = chartOperator(choice.operators, choice.packageOf);
    const files = chartFiles(operator, outside, optionsWith(defaultNamespace, new Map()));
    await writeChart(terminal, flags['write-chart'], files);
    return;
  }
  if (flags.print) {
    terminal.out(
      yamlStream(installObjects(choice.operators, optionsWith(flags.namespace ?? defaultNamespace, new Map()))),
    );
    return;
  }
  await using cluster = await context.connect();
  const { client } = cluster;
  const installed = await findInstalled(client, all, terminal.signal);
  const namespace = installedNamespace(installed, flags.namespace) ?? flags.namespace ?? defaultNamespace;
  await removeOperators(context, client, installed, leaving);
  if (choice.operators.length === 0) return;
  const chosen = { ...choice, operators: await withEarlier(client, installed, choice.operators, all, terminal) };
  const before = await readPodSettings(client, chosen.operators, namespace, terminal.signal);
  const options = optionsWith(namespace, before);
  const objects = installObjects(chosen.operators, options);
  for (const operator of chosen.operators) tellKept(terminal, operator, options);
  await applyObjects(context, cluster, chosen.operators, objects, namespace);
  await removeEarlier(context, client, installed, objects);
  const packages = choice.operators.map(context.packageFlag).join('');
  terminal.out(`${styled(terminal, 'green', 'installed')}; slipway status${packages} shows what it manages\n`);
}

/** What an earlier installation said and this one does not. */
function tellKept(terminal: Terminal, operator: OperatorDescription, options: InstallOptions): void {
  const { image, version, replicas } = options.settingsOf?.(operator) ?? {};
  const isOther = version !== undefined && version !== ownVersion(options.packageOf?.(operator), options.version);
  if (image !== undefined && options.image === undefined)
    writeLine(
      terminal,
      `${operator.name} keeps its image ${image}${isOther ? ` of version ${version}` : ''}; --image NAME runs another`,
    );
  if (replicas !== undefined && options.replicas === undefined)
    writeLine(terminal, `${operator.name} keeps its number of pods, ${replicas}; --replicas N has another`);
}

async function writeChart(terminal: Terminal, given: string, files: ReadonlyMap<string, string>): Promise<void> {
  const folder = resolve(terminal.cwd, given);
  const hint = 'choose another folder with --write-chart DIR';
  await makeFolder(join(folder, 'templates'), hint);
  for (const [path, text] of files) {
    // What its owner says about the chart stays: other values, another description.
    const flag = path.startsWith('templates/') ? 'w' : 'wx';
    try {
      await writeFile(join(folder, path), text, { flag });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new CommandError(`cannot write to ${folder}: ${reason(error)}`, { hint, cause: error });
    }
    terminal.out(`${join(given, path)}\n`);
  }
}

/** The operators that are meant. `--remove` alone adds none. */
async function staying(context: InstallContext, leaving: readonly OperatorDescription[]): Promise<OperatorChoice> {
  const choice = await context.choice();
  if (leaving.length === 0) return choice;
  if (!choice.named) return { ...choice, operators: [] };
  // A package has to be named for its operator to be known at all, also when that is to go.
  const isOnlyKnown = (operator: OperatorDescription) =>
    choice.packageOf(operator) !== undefined && !context.args.includes(operator.name);
  const both = leaving.find((operator) => choice.operators.includes(operator) && !isOnlyKnown(operator));
  if (both)
    throw new CommandError(`${both.name} cannot be installed and removed at once`, { exitCode: exitCodes.usage });
  return { ...choice, operators: choice.operators.filter((operator) => !leaving.includes(operator)) };
}

/** Where it is installed. Elsewhere would be a second one beside it, both acting on the same objects. */
function installedNamespace(installed: readonly InstalledEntry[], wanted: string | undefined): string | undefined {
  const present = installed.find((entry) => entry.kind === 'Deployment')?.namespace;
  if (present === undefined || wanted === undefined || wanted === present) return present;
  throw new CommandError(`slipway is installed in namespace ${present}, not ${wanted}`, {
    hint: `leave --namespace out to bring it up to date there, or run slipway uninstall first`,
  });
}

async function removeOperators(
  { terminal, flags }: InstallContext,
  client: Client,
  installed: readonly InstalledEntry[],
  leaving: readonly OperatorDescription[],
): Promise<void> {
  for (const operator of leaving) {
    const entries = installed.filter((entry) => entry.operator === operator.name);
    if (entries.length === 0)
      throw new CommandError(`${operator.name} is not installed`, { exitCode: exitCodes.notInstalled });
    const kinds = installedKinds(operator.kinds, entries);
    const removal = { client, terminal, kinds, entries, timeoutMs: flags.timeout ?? defaultTimeoutMs };
    if (!flags.force) await refuseWhileManaged(removal);
    writeLine(terminal, `removing ${operator.name}`);
    await remove(removal);
    terminal.out(`${styled(terminal, 'green', 'removed')} ${operator.name}\n`);
  }
}

/** An earlier version ran all operators in one Deployment. They move out of it together: it cannot go before the last has its own. */
async function withEarlier(
  client: Client,
  installed: readonly InstalledEntry[],
  chosen: readonly OperatorDescription[],
  all: readonly OperatorDescription[],
  terminal: Terminal,
): Promise<readonly OperatorDescription[]> {
  const shared = installed.find((entry) => entry.kind === 'Deployment' && entry.operator === undefined);
  if (!shared) return chosen;
  const key = { namespace: shared.namespace, name: shared.name };
  const live = await client.get(Deployment, key, { signal: terminal.signal });
  const args = live?.spec?.template.spec?.containers[0]?.args ?? [];
  const running = all.filter((operator) => args.includes(operator.name));
  return all.filter((operator) => chosen.includes(operator) || running.includes(operator));
}

async function applyObjects(
  { terminal, flags }: InstallContext,
  cluster: ConnectedCluster,
  operators: readonly OperatorDescription[],
  objects: readonly KubeObject[],
  namespace: string,
): Promise<void> {
  const { client } = cluster;
  const definitions = operators.flatMap((operator) => operator.kinds).map(definitionName);
  const adopted = await handleHelmDefinitions(client, definitions, flags.adopt, terminal.signal);
  const members = await withoutForeignNamespace(client, objects.map(removable), terminal.signal);
  const names = operators.map((operator) => operator.name).join(', ');
  writeLine(terminal, `installing ${names} in namespace ${namespace} (${cluster.origin})`);
  for (const name of adopted) writeLine(terminal, `  adopted    CustomResourceDefinition ${name}`);
  const progress = new Progress(terminal);
  const memo = new AppliedMemo();
  await waitUntilDone(terminal, flags.timeout ?? defaultTimeoutMs, async () => {
    const result = await applySet({
      client,
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
  client: Client,
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
  const forbidden = failed.some((member) => isForbidden(member.error));
  throw new CommandError(failed.map((member) => `${refText(member.ref)}: ${member.message}`).join('; '), {
    hint: forbidden
      ? 'installing needs an administrator of the cluster; --print shows what would be applied'
      : 'correct the cause and run the command again; it goes on where it stopped',
    exitCode: forbidden ? exitCodes.notAllowed : exitCodes.failed,
  });
}

/** What an earlier version made for all operators together, and settings that were taken back. Other operators' objects stay. */
async function removeEarlier(
  { terminal, flags }: InstallContext,
  client: Client,
  installed: readonly InstalledEntry[],
  objects: readonly KubeObject[],
): Promise<void> {
  const kept = new Set(['CustomResourceDefinition', 'Namespace']);
  const refs = objects.map(refOf);
  const present = new Set(objects.map((object) => object.metadata.labels?.[componentLabel]));
  const gone = new Set(leftOver(installed, refs).map(refKey));
  const entries = installed.filter(
    (entry) =>
      gone.has(refKey(entry)) && !kept.has(entry.kind) && (entry.operator === undefined || present.has(entry.operator)),
  );
  await remove({ client, terminal, kinds: [], entries, timeoutMs: flags.timeout ?? defaultTimeoutMs });
}
