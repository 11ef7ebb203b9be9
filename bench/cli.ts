import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { filesBelow, makeImageContent } from '../tools/bundle/image-size.ts';
import { cpuMs, memoryOf } from './lib/process-stats.ts';
import { type Bar, figure, publish } from './lib/report.ts';
import { median } from './lib/statistics.ts';

/**
 * How long the command takes from process start until it is of use, and what it holds in memory when nothing happens. The
 * bundle has its compiled code beside it, as in the image; from sources Node keeps it by itself after the first start.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, record: { type: 'boolean' } },
});
const rounds = Number(options.rounds);
/** Until garbage of the start is gone. */
const idleMs = 5_000;

interface Measured {
  readonly readyMs: number;
  readonly cpuMs: number;
  /** NaN when it was not looked at. */
  readonly memoryMb: number;
}

interface Case {
  readonly name: string;
  readonly argv: readonly string[];
  /** What it prints when it is ready. Absent: it is ready when it ends. */
  readonly ready?: RegExp;
  /** Milliseconds it may take at most. Default: no bar. */
  readonly barMs?: number;
  /** Default: the bundle with its compiled code. */
  readonly from?: 'bundle' | 'bundle, nothing compiled' | 'sources';
}

const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
const content = join(folder, 'dist');
await makeImageContent(content);
const file = join(content, 'slipway.mjs');
const parts = (await filesBelow(content)).filter((part) => part.endsWith('.mjs'));
const sizes = await Promise.all(parts.map(async (part) => (await stat(part)).size));
const bytes = sizes.reduce((sum, size) => sum + size, 0);
const sources = join(import.meta.dirname, '..', 'packages', 'cli', 'src', 'main.ts');
const env = { ...process.env, HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') };

function start(argv: readonly string[], from: Case['from'] = 'bundle'): ChildProcess {
  const cache =
    from === 'bundle, nothing compiled'
      ? { NODE_DISABLE_COMPILE_CACHE: '1' }
      : { NODE_COMPILE_CACHE: join(content, 'compiled') };
  return spawn(process.execPath, [from === 'sources' ? sources : file, ...argv], {
    env: { ...env, ...cache },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function until(child: ChildProcess, ready: RegExp): Promise<void> {
  let text = '';
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      text += String(chunk);
      if (ready.test(text)) resolve();
    };
    child.stdout!.on('data', look);
    child.stderr!.on('data', look);
    child.once('exit', () => reject(new Error(`ended before it was ready:\n${text}`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function measure({ argv, ready, from }: Case, idle: boolean): Promise<Measured> {
  const begun = performance.now();
  const child = start(argv, from);
  if (ready) await until(child, ready);
  else await once(child, 'exit');
  const readyMs = performance.now() - begun;
  const used = ready ? cpuMs(child.pid!) : Number.NaN;
  if (ready && idle) await wait(idleMs);
  const memoryMb = ready && idle ? memoryOf(child.pid!).residentMb : Number.NaN;
  await end(child);
  return { readyMs, cpuMs: used, memoryMb };
}

const cluster: Pick<Case, 'argv' | 'ready'> = { argv: ['cluster', '--port', '0'], ready: /kubectl get namespaces/ };
const up: Pick<Case, 'argv' | 'ready'> = { argv: ['up', '--port', '0'], ready: /is up/ };
const run: Pick<Case, 'argv' | 'ready'> = { argv: ['run', 'operand', '--install-crds'], ready: /"msg":"ready"/ };

const cases: readonly Case[] = [
  { name: 'version', argv: ['version'] },
  { name: 'cluster: API server answers', ...cluster },
  { name: 'up: all operators run', ...up },
  { name: 'up operand: example ready', argv: ['up', 'operand', '--port', '0'], ready: /Operand hello → Ready/ },
  { name: 'run operand: ready', ...run, barMs: 400 },
  { name: 'run operand: ready', ...run, from: 'bundle, nothing compiled' },
  { name: 'cluster: API server answers', ...cluster, from: 'sources', barMs: 2000 },
  { name: 'up: all operators run', ...up, from: 'sources', barMs: 2000 },
];

// The cluster `run` works on.
const served = start(['cluster', '--port', '0', '--kubeconfig', env.KUBECONFIG]);
try {
  await until(served, /kubectl get namespaces/);
  const rows: string[][] = [];
  const bars: Bar[] = [];
  for (const each of cases) {
    console.error(`… ${each.name}, ${each.from ?? 'bundle'}`);
    // Once without being counted: what is compiled then is there from then on.
    await measure(each, false);
    const results: Measured[] = [];
    for (let round = 0; round < rounds; round += 1) results.push(await measure(each, round === 0));
    const times = results.map(({ readyMs }) => readyMs);
    const { name, from = 'bundle', barMs } = each;
    if (barMs !== undefined) {
      const text = `${name}, ${from}, in under ${barMs} ms`;
      bars.push({ text, value: figure(median(times), 'ms'), holds: median(times) <= barMs });
    }
    rows.push([
      name,
      from,
      figure(median(times), 'ms'),
      figure(Math.min(...times), 'ms'),
      figure(median(results.map((result) => result.cpuMs)), 'ms'),
      figure(results[0]!.memoryMb, 'MB'),
    ]);
  }
  await publish({
    script: 'bench:cli',
    title: 'slipway: from process start to use',
    method: `Medians of ${rounds} after one start that is not counted, so that compiled code is kept as in the image. Idle is resident memory 5 s later. The bundle has ${(bytes / 1e6).toFixed(1)} MB.`,
    versions: {},
    bars,
    tables: [{ title: 'From process start', columns: ['', '', 'median', 'best', 'CPU', 'idle'], rows }],
  });
} finally {
  await end(served);
  await rm(folder, { recursive: true, force: true });
}
