import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { startCluster } from '@slipway/apiserver';
import { createClient, systemClock, type KubeObject } from '@slipway/kube';
import { ClusterActiveOperand, Operand } from '@slipway/operand';
import { expect, test } from 'vitest';

import { temporaryFolder } from './kit.ts';

const soak = process.env['SLIPWAY_SOAK'] === '1';
const rounds = soak ? 50 : 5;
const main = resolve(import.meta.dirname, '..', 'src', 'main.ts');

function up(data: string): ChildProcess {
  return spawn(process.execPath, [main, 'up', 'operand', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Reads output until it is enough. Fails when the process ends before. */
async function reads(child: ChildProcess, done: (text: string) => boolean): Promise<string> {
  let text = '';
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

/** What is in the folder, read without any operator running. */
async function look(dataDir: string) {
  await using cluster = await startCluster({ dataDir, controllers: 'none' });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test', clock: systemClock });
  const all = async (kind: Parameters<typeof client.list>[0]): Promise<KubeObject[]> => {
    const found: KubeObject[] = [];
    for await (const object of client.list(kind)) found.push(object as KubeObject);
    return found;
  };
  const members = [];
  for (const [apiVersion, kind] of [
    ['v1', 'ConfigMap'],
    ['apps/v1', 'Deployment'],
    ['apps/v1', 'ReplicaSet'],
  ] as const) {
    for (const object of await all(await client.resolve(apiVersion, kind)))
      if (object.metadata.namespace === 'hello') members.push(`${kind} ${object.metadata.name}`);
  }
  return { operands: await all(Operand), sets: await all(ClusterActiveOperand), members };
}

/** A start tells its story in about this many lines. */
const longestStory = 22;

// Moments are counted in printed lines, so that a slow machine is killed at the same points as a fast one.
test.each(Array.from({ length: rounds }, (_round, index) => [index + 1, 1 + Math.floor(Math.random() * longestStory)]))(
  'round %d: kill -9 after line %d of slipway up --data; the next start goes on, nothing is lost or there twice',
  { timeout: 60_000 },
  async (_round, line) => {
    await using folder = await temporaryFolder();
    const data = join(folder.path, 'data');
    const first = up(data);
    try {
      await reads(first, (text) => text.split('\n').length > line || /Operand hello → Ready\n/.test(text));
    } finally {
      await kill(first);
    }
    const before = await look(data);

    const second = up(data);
    try {
      await reads(second, (text) => /Operand hello → Ready\n/.test(text));
    } finally {
      await kill(second);
    }
    const { operands, sets, members } = await look(data);
    expect(operands).toHaveLength(1);
    expect(sets).toHaveLength(1);
    // Once acknowledged it stays, and it stays the same object.
    const kept = [...operands, ...sets].map((object) => object.metadata.uid);
    for (const object of [...before.operands, ...before.sets]) expect(kept).toContain(object.metadata.uid);
    const applied = members.filter((member) => !member.startsWith('ReplicaSet') && !member.includes('kube-root-ca'));
    expect(applied.sort()).toEqual(['ConfigMap greeting', 'ConfigMap installed', 'Deployment web']);
    expect(members.filter((member) => member.startsWith('ReplicaSet'))).toHaveLength(1);
  },
);
