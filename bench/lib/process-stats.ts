import { readdirSync, readFileSync } from 'node:fs';

/** CPU time a process has used so far, all threads, user and system, in milliseconds. From the kernel, so that every peer is measured alike. */
export function cpuMs(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

/** The same of all children of this process that have ended. */
export function endedChildrenCpuMs(): number {
  const fields = statFields(process.pid);
  return (Number(fields[13]) + Number(fields[14])) * msPerTick;
}

/** From the state of the process on. */
function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program stands in parentheses and may hold anything.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** USER_HZ is 100 on every Linux that Node runs on. */
const msPerTick = 10;

export interface Memory {
  /** Resident now, in MB (10^6 bytes). */
  readonly residentMb: number;
  /** Most that was ever resident, in MB. */
  readonly peakMb: number;
}

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024) / 1e6;
  return { residentMb: field('VmRSS'), peakMb: field('VmHWM') };
}

/** A process and all that descend from it. */
export function processTree(pid: number): number[] {
  let children: number[] = [];
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    children = threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    // It has ended since.
  }
  return [pid, ...children.flatMap(processTree)];
}
