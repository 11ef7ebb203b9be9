import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { startCluster } from '@slipway/apiserver';
import { createClient, isConditionTrue, keyOf, keyText, systemClock } from '@slipway/kube';
import { expect, test } from 'vitest';

import { findOperators } from '../src/packages.ts';
import { temporaryFolder } from './kit.ts';

const soak = process.env['SLIPWAY_SOAK'] === '1';
const rounds = soak ? 50 : 2;
const main = resolve(import.meta.dirname, '..', 'src', 'main.ts');

function up(data: string, operators: readonly string[]): ChildProcess {
  return spawn(process.execPath, [main, 'up', ...operators, '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Reads output until it is enough. Fails when the process ends before; a test that takes too long shows what was read. */
async function reads(child: ChildProcess, done: (text: string) => boolean, signal: AbortSignal): Promise<string> {
  let text = '';
  signal.addEventListener('abort', () => {
    console.error(`so far slipway up has said:\n${text}`);
    child.kill('SIGKILL');
  });
  child.stderr!.on('data', (chunk: Buffer) => (text += String(chunk)));
  for await (const chunk of child.stdout!) {
    text += String(chunk);
    if (done(text)) return text;
  }
  throw new Error(`slipway up ended by itself:\n${text}`);
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Of what the cluster makes anew by itself. */
const passing: ReadonlySet<string> = new Set(['Pod', 'Event', 'Lease', 'Node']);

interface Look {
  /** By `Kind namespace/name`: the uid. */
  readonly uids: ReadonlyMap<string, string>;
  readonly notReady: readonly string[];
}

/** What is in the folder, read without any operator running. */
async function look(dataDir: string): Promise<Look> {
  await using cluster = await startCluster({ dataDir, controllers: 'none' });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test', clock: systemClock });
  const kinds = new Set(operators.flatMap((operator) => operator.kinds.map((kind) => kind.kind)));
  const uids = new Map<string, string>();
  const notReady: string[] = [];
  for (const row of await client.discover()) {
    if (passing.has(row.kind) || !row.preferred || !row.verbs.includes('list')) continue;
    const apiVersion = row.group === '' ? row.version : `${row.group}/${row.version}`;
    for await (const object of client.list(await client.resolve(apiVersion, row.kind))) {
      const name = `${row.kind} ${keyText(keyOf(object))}`;
      uids.set(name, object.metadata.uid!);
      if (kinds.has(row.kind) && !isConditionTrue(object as never, 'Ready')) notReady.push(name);
    }
  }
  return { uids, notReady };
}

const operators = await findOperators();
/** What `slipway up` tells at its end. */
const examplesReady = [/Operand hello → Ready\n/, /BtpOperator kyma-system\/btpoperator → Ready\n/];
/** A start tells its story in about this many lines. */
const cases = [
  { names: ['operand'], done: examplesReady.slice(0, 1), longestStory: 18 },
  // Without the control plane operator, whose API servers outlive `up` on purpose; its own tests kill it.
  { names: ['operand', 'btp-manager'], done: examplesReady, longestStory: 55 },
];

// Moments are counted in printed lines, so that a slow machine is killed at the same points as a fast one.
const plan = Array.from({ length: rounds }, (_round, index) => {
  const each = cases[index % cases.length]!;
  const line = 1 + Math.floor(Math.random() * each.longestStory);
  return { ...each, line, round: index + 1, command: ['up', ...each.names].join(' ') };
});

test.for(plan)(
  'round $round: kill -9 after line $line of slipway $command --data; the next start goes on, nothing is lost or there twice',
  { timeout: 300_000 },
  async ({ names, done, line }, { signal }) => {
    const isDone = (text: string) => done.every((pattern) => pattern.test(text));
    await using folder = await temporaryFolder();
    const data = join(folder.path, 'data');
    const first = up(data, names);
    try {
      await reads(first, (text) => text.split('\n').length > line || isDone(text), signal);
    } finally {
      await kill(first);
    }
    const before = await look(data);

    const second = up(data, names);
    try {
      await reads(second, isDone, signal);
    } finally {
      await kill(second);
    }
    const { uids, notReady } = await look(data);
    // Once acknowledged it stays, and it stays the same object.
    for (const [name, uid] of before.uids) expect({ name, uid: uids.get(name) }).toEqual({ name, uid });
    expect(notReady).toEqual([]);
    const installed = [...uids.keys()]
      .filter((name) => / hello\//.test(name))
      .map((name) => name.replace('hello/', ''));
    expect(
      installed.filter((name) => /^(ConfigMap|Deployment) /.test(name) && !name.includes('kube-root-ca')).sort(),
    ).toEqual(['ConfigMap greeting', 'ConfigMap installed', 'Deployment web']);
    for (const kind of ['ActiveOperand', 'ReplicaSet'])
      expect(installed.filter((name) => name.startsWith(`${kind} `))).toHaveLength(1);
  },
);
