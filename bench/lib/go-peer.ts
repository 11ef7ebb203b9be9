import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { cacheDirectory } from '../../tools/reference-cluster/cache-directory.ts';

const run = promisify(execFile);

/** Builds a Go program under `bench/peers` into the cache (nothing to do when it is current) and returns its path. */
export async function goPeer(name: string, log: (line: string) => void): Promise<string> {
  const source = join(import.meta.dirname, '..', 'peers', name);
  const folder = join(cacheDirectory(), 'bench');
  const binary = join(folder, name);
  await mkdir(folder, { recursive: true });
  log(`building ${name} (the first time takes minutes)`);
  try {
    await run('go', ['build', '-mod=readonly', '-o', binary, '.'], { cwd: source });
  } catch (error) {
    throw new Error(`bench/peers/${name} cannot be built; a Go toolchain is needed: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return binary;
}

/** Version of a module a peer is pinned to. */
export async function pinnedModule(peer: string, module: string): Promise<string> {
  const cwd = join(import.meta.dirname, '..', 'peers', peer);
  const { stdout } = await run('go', ['list', '-m', '-f', '{{.Version}}', module], { cwd });
  return stdout.trim();
}

export async function goVersion(): Promise<string> {
  const { stdout } = await run('go', ['env', 'GOVERSION']);
  return stdout.trim();
}
