import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

export interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program and says so. */
export async function call(place: Place, file: string, ...argv: string[]): Promise<Finished> {
  console.log(`    $ ${[file, ...argv].join(' ').replaceAll(place.cwd, '.').replaceAll(dirname(place.cwd), '..')}`);
  try {
    const { stdout, stderr } = await promisify(execFile)(file, argv, { ...place, maxBuffer: 1 << 26 });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: number | string; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { code, out: stdout, err: stderr };
  }
}

/** Runs a program that has to succeed. */
export async function must(place: Place, file: string, ...argv: string[]): Promise<Finished> {
  const finished = await call(place, file, ...argv);
  if (finished.code === 0) return finished;
  throw new Error(`${file} ${argv.join(' ')} ended with ${finished.code}:\n${finished.out}${finished.err}`);
}
