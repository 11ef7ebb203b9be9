import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireBuildLock, buildGoProgram, cacheDirectory, goProblem, isExecutable } from '@slipway/reference-cluster';

import { type Oracle, type OracleName, oracles } from './oracle.ts';

export interface FoundOracle {
  readonly available: true;
  /** The executable. */
  readonly path: string;
  readonly version: string;
}

export interface NoOracle {
  readonly available: false;
  /** A sentence for people. */
  readonly reason: string;
}

/** Finds an oracle in the cache. It builds nothing: `npm run oracles:build` does. */
export async function findOracle(
  name: OracleName,
  env: NodeJS.ProcessEnv = process.env,
): Promise<FoundOracle | NoOracle> {
  const oracle = oracles.find((candidate) => candidate.name === name)!;
  const path = join(folderOf(oracle, env), oracle.name);
  if (await isExecutable(path)) return { available: true, path, version: oracle.version };
  return { available: false, reason: `${name} ${oracle.version} is not built (npm run oracles:build)` };
}

interface BuildOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Builds what is missing of these, one after another; answers why one could not be tried. */
async function buildOracles(wanted: readonly Oracle[], options: BuildOptions): Promise<string | undefined> {
  for (const oracle of wanted) {
    const folder = folderOf(oracle, options.env);
    await mkdir(folder, { recursive: true });
    using _lock = await acquireBuildLock(join(folder, 'build.lock'), {
      onWait: () => options.log(`waiting for another build of ${oracle.name} to finish`),
      signal: options.signal,
    });
    if (await isExecutable(join(folder, oracle.name))) continue;
    const problem = await goProblem(oracle.directory, options.env);
    if (problem) return `${oracle.name} is not in the cache, and ${problem}`;
    await buildGoProgram(oracle, folder, options);
  }
  return undefined;
}

function folderOf(oracle: Oracle, env: NodeJS.ProcessEnv): string {
  return join(cacheDirectory(env), 'oracles', oracle.cacheKey);
}

async function main(args: readonly string[]): Promise<void> {
  const names = args.filter((arg) => arg !== '--check');
  const unknown = names.filter((name) => !oracles.some((oracle) => oracle.name === name));
  if (unknown.length > 0) {
    const known = oracles.map((oracle) => oracle.name).join('|');
    throw new Error(`unknown argument ${unknown.join(' ')}; usage: build.ts [--check] [${known}]...`);
  }
  const wanted = oracles.filter((oracle) => names.length === 0 || names.includes(oracle.name));
  // Go goes on compiling when only its parent is told to end.
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  if (!args.includes('--check')) {
    const problem = await buildOracles(wanted, {
      env: process.env,
      log: (line) => console.log(line),
      signal: interrupted.signal,
    });
    if (problem) console.log(problem);
  }
  for (const oracle of wanted) {
    const found = await findOracle(oracle.name);
    console.log(found.available ? `${oracle.name} ${found.version}: ${found.path}` : found.reason);
    if (!found.available) process.exitCode = 1;
  }
}

if (import.meta.main) await main(process.argv.slice(2));
