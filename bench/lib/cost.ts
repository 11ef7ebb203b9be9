import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { endedChildrenCpuMs, memoryOf, processTree } from './process-stats.ts';
import { figure } from './report.ts';
import { median } from './statistics.ts';

/** What a piece of work took. */
export interface Cost {
  readonly wallMs: number;
  /** All threads, and all processes it started. */
  readonly cpuMs: number;
  /** Most that was resident: of a program with all it started, or of this process so far. */
  readonly peakMb: number;
}

/** How often the memory of a program is looked at, in the turn that is not timed: it takes a good part of a processor. */
export const lookEveryMs = 5;

/** The present turn is there for caches and memory. */
let isLooking = true;

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

/** What a program costs that ends. Nothing else may be started meanwhile. */
export async function costOfProgram(
  command: string,
  args: readonly string[],
  { env = {}, cwd }: ProgramOptions = {},
): Promise<Cost> {
  const before = endedChildrenCpuMs();
  const started = performance.now();
  const child = spawn(command, args, { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stdout.resume();
  child.stderr.on('data', (chunk: Buffer) => (errors += String(chunk)));
  let peakMb = 0;
  const look = () => (peakMb = Math.max(peakMb, residentOf(child.pid!)));
  const looking = isLooking ? setInterval(look, lookEveryMs) : undefined;
  const [code] = (await once(child, 'close')) as [number];
  clearInterval(looking);
  const wallMs = performance.now() - started;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${errors.slice(-500)}`);
  return { wallMs, cpuMs: endedChildrenCpuMs() - before, peakMb };
}

/** What work in this process costs. */
export async function costOfWork(work: () => Promise<unknown>): Promise<Cost> {
  const cpu = process.cpuUsage();
  const started = performance.now();
  await work();
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000, peakMb: memoryOf(process.pid).peakMb };
}

/** Runs in turn, so that all meet the same load. The first turn is not timed: it fills caches, and memory is looked at. */
export async function inTurn(runs: readonly (() => Promise<Cost>)[], times: number): Promise<Cost[]> {
  const costs = runs.map((): Cost[] => []);
  const peaks = runs.map(() => 0);
  for (let round = 0; round <= times; round += 1) {
    isLooking = round === 0;
    for (const [index, each] of runs.entries()) {
      const cost = await each();
      peaks[index] = Math.max(peaks[index]!, cost.peakMb);
      if (round > 0) costs[index]!.push(cost);
    }
  }
  isLooking = true;
  return costs.map((all, index) => ({
    wallMs: median(all.map(({ wallMs }) => wallMs)),
    // The kernel counts in steps of ten milliseconds: a mean says more of short runs than a median.
    cpuMs: all.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / all.length,
    peakMb: peaks[index]!,
  }));
}

export function costText({ wallMs, cpuMs, peakMb }: Cost): string {
  return `${figure(wallMs)} / ${figure(cpuMs)} / ${figure(peakMb)}`;
}

/** A process and all it started. One alone is known by the most it ever had, several by what they have together. */
function residentOf(pid: number): number {
  const tree = processTree(pid).flatMap((each) => {
    try {
      return [memoryOf(each)];
    } catch {
      // It has ended since.
      return [];
    }
  });
  if (tree.length === 1) return tree[0]!.peakMb;
  return tree.reduce((sum, { residentMb }) => sum + residentMb, 0);
}
