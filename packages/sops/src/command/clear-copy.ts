import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Works on a clear copy in a folder that only its owner can enter. The copy is gone when the work has ended, and also when this process
 * was killed before it could remove it.
 */
export async function withClearCopy<T>(
  name: string,
  content: Uint8Array,
  work: (path: string) => Promise<T>,
): Promise<T> {
  // mkdtemp makes a folder that only its owner can enter.
  const folder = await mkdtemp(join(tmpdir(), 'slipway-sops-'));
  const release = removeAfterDeath(folder);
  try {
    const copy = join(folder, name);
    await writeFile(copy, content, { mode: 0o600 });
    return await work(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
    release();
  }
}

const untilEndOfInput = `process.stdin.resume().once('close', () => {
  require('node:fs').rmSync(process.argv[1], { recursive: true, force: true });
});`;

/** A process whose input ends with this one, however that comes, removes the folder then. Apart from the group, so that no signal to that ends it. */
function removeAfterDeath(folder: string): () => void {
  const child = spawn(process.execPath, ['-e', untilEndOfInput, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  // Where it cannot be started, the copy is removed by this process alone.
  child.once('error', () => undefined);
  child.stdin.once('error', () => undefined);
  child.unref();
  return () => child.stdin.end();
}
