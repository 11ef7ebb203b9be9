import { access, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { fallBack } from './fall-back.cjs';

const machine = { node: '24.3.0', machine: 'linux-x64-musl', needed: '>=24' };
let bin: string;

beforeEach(async () => {
  bin = await mkdtemp(join(tmpdir(), 'slipway-bin-'));
});
afterEach(() => rm(bin, { recursive: true }));

test('a pinned Node that runs stays, and nothing is said', async () => {
  await symlink(process.execPath, join(bin, 'node'));
  expect(fallBack(bin, machine)).toBeUndefined();
  await access(join(bin, 'node'));
});

test('a pinned Node whose C library is not there makes room for the one of the machine, in one line', async () => {
  // What the kernel says of a program whose loader is missing, it says of a script whose interpreter is.
  await writeFile(join(bin, 'node'), '#!/lib64/ld-linux-of-another-machine.so.2\n', { mode: 0o755 });
  expect(fallBack(bin, machine)).toBe(
    'the pinned Node does not run on this machine (linux-x64-musl): using Node 24.3.0 of this machine',
  );
  await expect(access(join(bin, 'node'))).rejects.toThrow('ENOENT');
});

test('where there is no pinned Node, it says which one is used', () => {
  expect(fallBack(bin, { ...machine, machine: 'linux-ppc64' })).toBe(
    'no pinned Node for linux-ppc64: using Node 24.3.0 of this machine',
  );
});

test('it says when the one of the machine is too old', () => {
  expect(fallBack(bin, { ...machine, node: '20.1.0' })).toBe(
    'no pinned Node for linux-x64-musl; slipway needs Node 24 or newer, and this is Node 20.1.0: install a newer one (https://nodejs.org) and try again',
  );
});
