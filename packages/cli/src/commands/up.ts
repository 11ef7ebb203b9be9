import { createClient, sleep, type Client } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { silentLogger, startManager, type OperatorDescription } from '@slipway/runtime';

import { listManagedObjects, statusColumns, type ManagedObject } from '../managed-object.ts';
import { chooseOperators } from '../operators.ts';
import { operatorSettings } from '../settings.ts';
import { styled, type Terminal } from '../terminal.ts';
import { LiveView } from '../view/live-view.ts';
import { renderTable } from '../view/table.ts';
import { startEmbedded, type ClusterFlags } from './cluster.ts';
import type { CommandContext } from './context.ts';
import { installCrds } from './crds.ts';

const refreshMs = 200;

/** `slipway up`: a cluster in this process, the operators, and an example of each going through its life. */
export async function upCommand(
  { terminal, operators }: CommandContext,
  names: readonly string[],
  flags: ClusterFlags,
): Promise<void> {
  const chosen = chooseOperators(operators, names);
  const { cluster, kubeconfigFile } = await startEmbedded(terminal, flags);
  try {
    const client = createClient({ transport: cluster.transport, fieldManager: 'slipway', clock: terminal.clock });
    await installCrds(client, chosen, terminal.signal);
    await using manager = await startManager({
      name: 'slipway',
      cluster: { transport: cluster.transportFor({}) },
      controllers: chosen.flatMap((operator) =>
        operator.controllers(operatorSettings(chosen, { flags: {}, env: terminal.env, config: {} })),
      ),
      log: silentLogger,
      clock: terminal.clock,
      random: terminal.random,
    });
    await manager.ready;
    greet(terminal, cluster.url, kubeconfigFile, chosen, flags);
    await applyExamples(client, chosen, terminal);
    await showProgress(terminal, client, chosen);
  } finally {
    await cluster.stop();
    terminal.out(
      flags.data === undefined
        ? 'stopped; the cluster was in memory and is gone\n'
        : `stopped; the cluster is kept in ${flags.data}\n`,
    );
  }
}

function greet(
  terminal: Terminal,
  url: string,
  kubeconfig: string,
  operators: readonly OperatorDescription[],
  flags: ClusterFlags,
): void {
  terminal.out(
    `${styled(terminal, 'bold', 'Slipway')} is up: ${operators.map((operator) => operator.title).join(', ')} on ${url}${flags.data === undefined ? '' : `, kept in ${flags.data}`}\n\n`,
  );
  terminal.out(
    `  export KUBECONFIG=${kubeconfig}\n  kubectl get ${operators.flatMap((operator) => operator.kinds.slice(0, 1).map((kind) => kind.plural)).join(',')} -A\n\n`,
  );
}

/** Examples are applied, not created: a cluster that was kept has them already. */
async function applyExamples(
  client: Client,
  operators: readonly OperatorDescription[],
  terminal: Terminal,
): Promise<void> {
  for (const example of operators.flatMap((operator) => operator.examples)) {
    terminal.out(`${styled(terminal, 'dim', '$')} ${example.name}: ${example.description}\n`);
    for (const object of parseManifests(example.manifest, { source: example.name })) {
      await client.apply(object, { fieldManager: 'slipway-example', signal: terminal.signal });
    }
  }
  terminal.out('\n');
}

/** A live table on a terminal; elsewhere a line for every change. */
async function showProgress(
  terminal: Terminal,
  client: Client,
  operators: readonly OperatorDescription[],
): Promise<void> {
  const view = new LiveView(terminal);
  const seen = new Map<string, string>();
  while (!terminal.signal.aborted) {
    const { objects } = await listManagedObjects(client, operators, terminal.signal);
    if (terminal.interactive)
      view.draw([
        ...renderTable(statusColumns(terminal), objects, terminal.columns()),
        '',
        styled(terminal, 'dim', 'Ctrl-C stops everything'),
      ]);
    else for (const line of changes(objects, seen)) terminal.out(`${line}\n`);
    await sleep(terminal.clock, refreshMs, terminal.signal).catch(() => undefined);
  }
}

function* changes(objects: readonly ManagedObject[], seen: Map<string, string>): Generator<string> {
  const present = new Set<string>();
  for (const object of objects) {
    const key = `${object.kind}/${object.name}`;
    present.add(key);
    const state = `${object.state}${object.message ? `: ${object.message}` : ''}`;
    if (seen.get(key) === state) continue;
    seen.set(key, state);
    yield `${object.kind} ${object.name}: ${state}`;
  }
  for (const key of [...seen.keys()]) {
    if (present.has(key)) continue;
    seen.delete(key);
    yield `${key.replace('/', ' ')}: gone`;
  }
}
