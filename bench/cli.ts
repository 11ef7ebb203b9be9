import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { bundle } from '../tools/bundle/bundle.ts';

/** How long the bundled command takes from process start until it is of use, and what it holds in memory when nothing happens. */
const rounds = Number(process.argv[2] ?? 7);
/** Until garbage of the start is gone. */
const idleMs = 5_000;

interface Measured {
  readonly readyMs: number;
  readonly cpuMs: number;
  readonly rssMiB: number | undefined;
}

interface Case {
  readonly name: string;
  readonly argv: readonly string[];
  /** What it prints when it is ready. Absent: it is ready when it ends. */
  readonly ready?: RegExp;
}

const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
const { file, bytes } = await bundle({ directory: join(folder, 'dist') });
const env = { ...process.env, HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') };

function start(argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, [file, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] });
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

/** Processor time so far, from the kernel; it says more than the clock on a busy machine. Linux only. */
async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return Number.NaN;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function rssMiB(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  const kib = /VmRSS:\s+(\d+) kB/.exec(status ?? '')?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

async function measure({ argv, ready }: Case, idle: boolean): Promise<Measured> {
  const begun = performance.now();
  const child = start(argv);
  if (ready) await until(child, ready);
  else await once(child, 'exit');
  const readyMs = performance.now() - begun;
  const used = await cpuMs(child.pid!);
  if (ready && idle) await wait(idleMs);
  const memory = ready && idle ? await rssMiB(child.pid!) : undefined;
  await end(child);
  return { readyMs, cpuMs: used, rssMiB: memory };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const cases: readonly Case[] = [
  { name: 'version', argv: ['version'] },
  { name: 'cluster: API server answers', argv: ['cluster', '--port', '0'], ready: /kubectl get namespaces/ },
  { name: 'up operand: operators run', argv: ['up', 'operand', '--port', '0'], ready: /is up/ },
  { name: 'up operand: example ready', argv: ['up', 'operand', '--port', '0'], ready: /Operand hello → Ready/ },
  { name: 'run operand: caches filled', argv: ['run', 'operand', '--install-crds'], ready: /"msg":"ready"/ },
];

// The cluster `run` works on.
const served = start(['cluster', '--port', '0', '--kubeconfig', env.KUBECONFIG]);
try {
  await until(served, /kubectl get namespaces/);
  console.log(`slipway.mjs ${(bytes / 1024 / 1024).toFixed(1)} MiB, node ${process.version}, median of ${rounds}`);
  console.log(`${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}\n`);
  console.log(
    `${'from process start'.padEnd(30)}${'time'.padStart(10)}${'best'.padStart(10)}${'cpu'.padStart(10)}${'idle'.padStart(11)}`,
  );
  for (const each of cases) {
    const results: Measured[] = [];
    for (let round = 0; round < rounds; round += 1) results.push(await measure(each, round === 0));
    const times = results.map((result) => result.readyMs);
    const cpu = median(results.map((result) => result.cpuMs));
    const idle = results[0]!.rssMiB;
    console.log(
      each.name.padEnd(30) +
        `${median(times).toFixed(0)} ms`.padStart(10) +
        `${Math.min(...times).toFixed(0)} ms`.padStart(10) +
        (Number.isNaN(cpu) ? '-' : `${cpu.toFixed(0)} ms`).padStart(10) +
        (idle === undefined ? '-' : `${idle.toFixed(0)} MiB`).padStart(11),
    );
  }
} finally {
  await end(served);
  await rm(folder, { recursive: true, force: true });
}
