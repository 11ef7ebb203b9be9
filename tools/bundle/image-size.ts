import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

import { bundle } from './bundle.ts';

/** What the image may take, compressed as registries keep it. */
export const imageBudgetBytes = 120_000_000;
/**
 * What the base image takes besides Node itself: a small Debian, and npm and yarn, which a later layer hides but does not
 * make smaller. Rounded up.
 */
export const baseBytes = 38_000_000;

/** Compressed size of files, each for itself. Layers are compressed as a whole, so the image is a little smaller. */
export async function compressedBytes(files: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const file of files) {
    const gzip = createGzip();
    gzip.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await pipeline(createReadStream(file), gzip);
  }
  return bytes;
}

/** All files below a folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Makes in `folder` what the image adds to its base: the bundle, what operators read, and compiled code, as deploy/Dockerfile has it. */
export async function makeImageContent(folder: string): Promise<void> {
  const { file } = await bundle({ directory: folder });
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const expectExit = async (expected: number, ...args: string[]) => {
    const child = spawn(process.execPath, [file, ...args], { env, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number];
    if (code !== expected) throw new Error(`slipway ${args.join(' ')} ended with ${code} instead of ${expected}`);
  };
  await expectExit(3, 'run', '--kubeconfig', join(folder, 'nonexistent'));
  await expectExit(0, 'chart', 'template', 'slipway', chart, '--include-crds');
}

/** Our own: large enough to come to most of what charts use. */
const chart = join(import.meta.dirname, '..', '..', 'deploy', 'chart');

if (import.meta.main) {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-image-'));
  try {
    await makeImageContent(folder);
    const node = await compressedBytes([process.execPath]);
    const own = await compressedBytes(await filesBelow(folder));
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    console.log(`base, at most  ${megabytes(baseBytes)}`);
    console.log(`node ${process.version}  ${megabytes(node)}`);
    console.log(`slipway        ${megabytes(own)}`);
    console.log(`image          ${megabytes(baseBytes + node + own)} of ${megabytes(imageBudgetBytes)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
