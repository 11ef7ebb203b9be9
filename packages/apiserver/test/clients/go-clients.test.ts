import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReferenceCluster } from '@slipway/reference-cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster } from '../../src/index.ts';
import { clientLane, live } from './lane.ts';
import { runCommand } from './run-command.ts';

const source = join(import.meta.dirname, '..', '..', '..', '..', 'tools', 'client-probes');
const lane = await clientLane('client-go and controller-runtime against the embedded server', []);
const runs = 'binaries' in lane && goIsThere();

function goIsThere(): boolean {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stdout.write('SKIPPED client-go and controller-runtime: Go is not installed\n');
    return false;
  }
}

const probes = [
  'typed protobuf client',
  'dynamic client',
  'server-side apply',
  'informer',
  'informer by streaming list',
  'metadata client',
  'discovery and mapping',
  'events',
  'leader election',
  'retry on conflict',
  'custom resources',
  'controller-runtime client',
  'controller-runtime manager',
];

let home: string;
beforeAll(async () => {
  if (!runs) return;
  home = await mkdtemp(join(tmpdir(), 'slipway-probes-'));
  const args = [
    'build',
    '-p=2',
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    '-o',
    join(home, 'client-probes'),
    '.',
  ];
  const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined));
  const built = await runCommand('go', args, { cwd: source, env: env as Record<string, string>, timeoutMs: 900_000 });
  if (built.code !== 0) throw new Error(built.stderr);
}, 900_000);
afterAll(async () => {
  if (runs) await rm(home, { recursive: true, force: true });
});

async function said(kubeconfig: string): Promise<string[]> {
  const path = join(home, 'kubeconfig');
  await writeFile(path, kubeconfig, { mode: 0o600 });
  const { stdout } = await runCommand(join(home, 'client-probes'), [path], { timeoutMs: 300_000 });
  return stdout.trim().split('\n');
}

const all = probes.map((name) => `ok ${name}`);

it.runIf(runs)('Go operators find in the embedded server what they need', { timeout: 300_000 }, async () => {
  await using cluster = await startCluster({ port: 0, tls: true, authorization: 'RBAC' });
  expect(await said(cluster.kubeconfig)).toEqual(all);
});

it.runIf(runs && live)('and the same in a real one', { timeout: 300_000 }, async () => {
  await using cluster = await startReferenceCluster({ controllers: true });
  expect(await said(cluster.kubeconfig)).toEqual(all);
});
