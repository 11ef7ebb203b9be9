import { join } from 'node:path';
import { type Client, CommandError, createClient, sleep, styled, type Terminal } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import {
  createLogger,
  silentLogger,
  startManager,
  type Controller,
  type OperatorDescription,
  type RunningExample,
  type WebhookOptions,
} from '@slipway/runtime';

import { statusColumns } from '../managed-object.ts';
import { writeForOwnerOnly } from '../make-folder.ts';
import { controllersOf } from '../operators.ts';
import { fold } from '../view/fold.ts';
import { LiveView } from '../view/live-view.ts';
import { Story } from '../view/story.ts';
import { renderTable } from '../view/table.ts';
import { readSought, soughtByWords } from '../sought-objects.ts';
import { webhooksAt, webhooksOf } from '../webhooks.ts';
import {
  clusterFlags,
  freePort,
  startEmbedded,
  storageProblem,
  type ClusterFlags,
  type StartedCluster,
} from './cluster.ts';
import { installCrds } from '../crds.ts';
import { slipwayCommand, type OperatorChoice, type SlipwayContext } from '../slipway-command.ts';

/** How often the live table is drawn anew; between changes only the ages move. */
const refreshMs = 500;
/** Reconciliations are idempotent; nobody who pressed Ctrl-C wants to wait for them. */
const gracefulStopMs = 2_000;

/** `slipway up`: a cluster in this process, the operators, and an example of each going through its life. */
export const command = slipwayCommand({
  takesOperators: true,
  operatorFlags: 'settings',
  flags: clusterFlags,
  examples: [
    { line: 'slipway up' },
    { line: 'slipway up operand --data ./cluster --port 0' },
    { line: 'slipway up --operator ./my-operator' },
  ],
  run: async ({ terminal, choice, packageFlag, flags, verbose }) =>
    up(terminal, { ...(await choice()), packageFlag }, flags, verbose),
});

/** The operators that are to run, and how other commands are told of them. */
type Crew = OperatorChoice & Pick<SlipwayContext, 'packageFlag'>;

async function up(given: Terminal, choice: Crew, flags: ClusterFlags, verbose: boolean): Promise<void> {
  writeForOwnerOnly();
  const view = new LiveView(given);
  const say = (line: string) => {
    if (given.interactive) for (const part of fold(line, given.columns())) view.log(part);
    else given.out(`${line}\n`);
  };
  const surroundings: AsyncDisposable[] = [];
  await using _surroundings = {
    async [Symbol.asyncDispose]() {
      for (const example of surroundings.reverse()) await example[Symbol.asyncDispose]();
    },
  };
  const startExample = async (operator: OperatorDescription) => {
    const folder = flags.data === undefined ? {} : { folder: join(flags.data, 'examples', operator.name) };
    const example = await operator.startExample?.({ clock: given.clock, random: given.random, say, ...folder });
    if (example) surroundings.push(example);
    return example;
  };
  const { operators, controllers, examples } = await ableToRun(given, choice, startExample);
  const embedded = await startEmbedded(given, flags, say);
  const terminal = { ...given, signal: AbortSignal.any([given.signal, embedded.uncaught]) };
  const { cluster, disk } = embedded;
  try {
    const client = createClient({ transport: cluster.transport, fieldManager: 'slipway', clock: terminal.clock });
    await installCrds(client, operators, terminal);
    await using manager = await startManager({
      name: 'slipway',
      cluster: { transport: cluster.transportFor({}) },
      controllers,
      ...(await webhooksHere(operators)),
      log: verbose
        ? createLogger({
            format: 'text',
            destination: { write: (line: string) => say(line.trimEnd()) },
            clock: terminal.clock,
          })
        : silentLogger,
      gracefulStopMs,
      clock: terminal.clock,
      random: terminal.random,
      signal: terminal.signal,
    });
    await manager.ready;
    greet(terminal, embedded, operators, flags);
    // From here on Ctrl-C is the way to end it, whatever it interrupts.
    try {
      const story = new Story(operators, terminal, say);
      // What an operator shows besides is told by its example.
      const own = soughtByWords(operators, []).filter(({ shown }) => !shown);
      story.begin((await readSought(client, own, { signal: terminal.signal })).objects);
      cluster.observe((change) => story.observe(change));
      await applyExamples(client, operators, terminal, say);
      for (const example of examples)
        example.follow?.(client, terminal.signal).catch((error: unknown) => {
          if (!terminal.signal.aborted)
            say(`the story ends here: ${error instanceof Error ? error.message : String(error)}`);
        });
      await untilStopped(terminal, view, client, operators, embedded.kubeconfigFile);
    } catch (error) {
      if (!terminal.signal.aborted) throw error;
    }
    embedded.uncaught.throwIfAborted();
  } catch (error) {
    throw disk.problem ? storageProblem(disk.problem, flags.data) : error;
  } finally {
    await embedded.stop();
    terminal.out(
      flags.data === undefined
        ? 'stopped; the cluster was in memory and is gone (--data DIR keeps it)\n'
        : `stopped; the cluster is kept in ${flags.data}\n`,
    );
  }
}

/** The embedded API server is in this process: it reaches webhooks on the loopback address. */
async function webhooksHere(operators: readonly OperatorDescription[]): Promise<{ webhooks?: WebhookOptions }> {
  if (webhooksOf(operators).length === 0) return {};
  const port = await freePort();
  const address = { url: `https://127.0.0.1:${port}` };
  return { webhooks: webhooksAt(operators, { address, port, host: '127.0.0.1', namespace: 'default' }) };
}

/** An operator that was not asked for by name and lacks a setting is left out, with a word; one that was named is an error. */
async function ableToRun(
  terminal: Terminal,
  { operators, named, settingsOf, packageFlag }: Crew,
  startExample: (operator: OperatorDescription) => Promise<RunningExample | undefined>,
): Promise<{ operators: OperatorDescription[]; controllers: Controller[]; examples: RunningExample[] }> {
  const able: OperatorDescription[] = [];
  const controllers: Controller[] = [];
  const examples: RunningExample[] = [];
  for (const operator of operators) {
    try {
      const settings = settingsOf(operator);
      const flags = { ...settings.flags };
      for (const [name, value] of Object.entries(operator.exampleFlags ?? {})) flags[name] ??= value;
      const example = await startExample(operator);
      if (example) examples.push(example);
      Object.assign(flags, example?.flags);
      controllers.push(...controllersOf(operator, { ...settings, flags }, packageFlag));
      able.push(operator);
    } catch (error) {
      if (named || !(error instanceof CommandError)) throw error;
      terminal.err(`left out ${operator.name}: ${error.message}\n`);
    }
  }
  return { operators: able, controllers, examples };
}

function greet(
  terminal: Terminal,
  { cluster, kubeconfigFile }: StartedCluster,
  operators: readonly OperatorDescription[],
  flags: ClusterFlags,
): void {
  const titles = operators.map((operator) => operator.title).join(', ');
  const kept = flags.data === undefined ? '' : `, kept in ${flags.data}`;
  terminal.out(`${styled(terminal, 'bold', 'Slipway')} is up: ${titles} on ${cluster.url}${kept}\n\n`);
  const first = operators.flatMap((operator) => operator.kinds.slice(0, 1));
  const everywhere = first.some((kind) => kind.scope === 'Namespaced') ? ' -A' : '';
  terminal.out(`  export KUBECONFIG=${kubeconfigFile}\n`);
  const looked = first.length > 0 ? `${first.map((kind) => kind.plural).join(',')}${everywhere}` : 'namespaces';
  terminal.out(`  kubectl get ${looked}\n\n`);
}

/** Examples are applied, not created: a cluster that was kept has them already. */
async function applyExamples(
  client: Client,
  operators: readonly OperatorDescription[],
  terminal: Terminal,
  say: (line: string) => void,
): Promise<void> {
  for (const operator of operators) {
    for (const example of operator.examples) {
      say(`${styled(terminal, 'bold', `${operator.name}/${example.name}`)}  ${example.description}`);
      for (const object of parseManifests(example.manifest, { source: example.name })) {
        await client.apply(object, { fieldManager: 'slipway-example', signal: terminal.signal });
      }
    }
  }
}

/** On a terminal a table that stays current; elsewhere the story is all. */
async function untilStopped(
  terminal: Terminal,
  view: LiveView,
  client: Client,
  operators: readonly OperatorDescription[],
  kubeconfigFile: string,
): Promise<void> {
  const foot = [`export KUBECONFIG=${kubeconfigFile}`, styled(terminal, 'dim', 'Ctrl-C stops everything')];
  while (!terminal.signal.aborted) {
    if (terminal.interactive) {
      const { objects } = await readSought(client, soughtByWords(operators, []), { signal: terminal.signal });
      view.draw(['', ...renderTable(statusColumns(terminal), objects, terminal.columns()), ''], foot);
    }
    await sleep(terminal.clock, refreshMs, terminal.signal).catch(() => undefined);
  }
}
