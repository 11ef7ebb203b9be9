import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startCluster } from '@slipway/apiserver';
import { ConfigMap, connect, createClient, loadKubeConfig, systemClock } from '@slipway/kube';
import { afterAll, describe, expect, test } from 'vitest';

import { Call, call, temporaryFolder } from './kit.ts';

const run = promisify(execFile);

interface Disk extends AsyncDisposable {
  readonly path: string;
  /** Leaves no room. */
  fill(): void;
  makeRoom(): Promise<void>;
  makeReadOnly(): Promise<void>;
}

/** A test that takes too long does not come to its end; nothing may stay mounted all the same. */
const mounted = new Set<Disk>();
afterAll(async () => {
  for (const disk of mounted) await disk[Symbol.asyncDispose]();
});

/** A disk of its own, in memory. Only an administrator may have one. */
async function smallDisk(kibibytes: number): Promise<Disk> {
  const folder = await temporaryFolder();
  const path = join(folder.path, 'disk');
  await mkdir(path);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', path]);
  const disk: Disk = {
    path,
    fill() {
      try {
        writeFileSync(join(path, 'filler'), Buffer.alloc(kibibytes * 1024 + 1));
      } catch {
        // Full.
      }
    },
    makeRoom: () => rm(join(path, 'filler')),
    async makeReadOnly() {
      await run('mount', ['-o', 'remount,ro', path]);
    },
    async [Symbol.asyncDispose]() {
      mounted.delete(disk);
      await run('umount', ['-l', path]);
      await folder[Symbol.asyncDispose]();
    },
  };
  mounted.add(disk);
  return disk;
}

const mayMount = await smallDisk(64).then(
  async (disk) => {
    await disk[Symbol.asyncDispose]();
    return true;
  },
  () => false,
);

const keeping =
  /^slipway: cannot keep the cluster in \S*data: .*\n {2}make (room on the disk|the folder and its files writable)/;
const cases = [
  { argv: ['up', 'operand', '--port', '0', '--data', 'data'], says: keeping },
  { argv: ['cluster', '--port', '0', '--data', 'data'], says: keeping },
  {
    argv: ['crds', '--write', 'definitions'],
    says: /^slipway: cannot write to \S*definitions: (ENOSPC|EROFS): .*\n {2}choose another folder with --write DIR\n$/,
  },
  {
    argv: ['cluster', '--port', '0', '--kubeconfig', 'config'],
    says: /^slipway: cannot write \S*config: (ENOSPC|EROFS): .*\n {2}choose another place with --kubeconfig FILE\n$/,
  },
];

describe.runIf(mayMount)('on a disk of its own', () => {
  test.each(cases)('$argv on a full one: one line, 1', async ({ argv, says }) => {
    await using disk = await smallDisk(64);
    disk.fill();
    const { code, err } = await call(argv, { cwd: disk.path });
    expect(err).toMatch(says);
    expect(code).toBe(1);
  });

  test.each(cases)('$argv on a read-only one: one line, 1', async ({ argv, says }) => {
    await using disk = await smallDisk(64);
    // SQLite could not even make its folder; the other way to be read-only is a folder that is there.
    if (argv.includes('--data')) await mkdir(join(disk.path, 'data'));
    await disk.makeReadOnly();
    const { code, err } = await call(argv, { cwd: disk.path });
    expect(err).toMatch(says);
    expect(code).toBe(1);
  });

  test('up --data in a folder that cannot be made says that the disk is read-only', async () => {
    await using disk = await smallDisk(64);
    await disk.makeReadOnly();
    const { code, err } = await call(['up', '--port', '0', '--data', 'data'], { cwd: disk.path });
    expect(err).toMatch(/^slipway: cannot write to \S*data: EROFS: .*\n {2}choose another folder with --data DIR\n$/);
    expect(code).toBe(1);
  });

  test('up whose disk fills says so, waits, and goes on when there is room', async () => {
    await using disk = await smallDisk(8192);
    const running = new Call(['up', 'operand', '--port', '0', '--data', 'data'], {
      cwd: disk.path,
      // At once, before the next change: what comes after this line finds no room.
      heard: (text) => (text.includes('Operand hello → New') ? disk.fill() : undefined),
    });
    await running.says(/cannot keep changes in data: the disk is full; make room on the disk/);
    await disk.makeRoom();
    await running.says(/changes are kept in data again\n[^]*Operand hello → Ready\n/);
    expect(await running.stop()).toBe(0);
    // Once each, however often operators try.
    expect(running.out.match(/cannot keep changes/g)).toHaveLength(1);
  });

  test('cluster --data whose disk fills refuses writes with the reason, goes on reading, and loses nothing it acknowledged', async () => {
    await using disk = await smallDisk(400);
    const running = new Call(['cluster', '--port', '0', '--data', 'data'], { cwd: disk.path });
    await running.says(/kubectl get namespaces/);
    const config = await loadKubeConfig({ file: join(disk.path, 'data', 'kubeconfig') });
    const acknowledged = await createUntilRefused(config);
    expect(acknowledged.refusal).toMatch(/database or disk is full/);
    expect(acknowledged.names.length).toBeGreaterThan(0);
    expect(await running.stop()).toBe(0);
    expect(await kept(join(disk.path, 'data'))).toEqual(acknowledged.names);
  });
});

test.runIf(!mayMount)('on a disk of its own', (context) => {
  context.skip('this user may not mount a file system to fill');
});

test('cluster --data in a process that may write no larger files refuses writes and loses nothing it acknowledged', async () => {
  await using folder = await temporaryFolder();
  const main = resolve(import.meta.dirname, '..', 'src', 'main.ts');
  // Blocks of 512 bytes.
  const child = spawn(
    'sh',
    ['-c', 'ulimit -f 800; exec "$@"', 'sh', process.execPath, main, 'cluster', '--port', '0', '--data', 'data'],
    {
      cwd: folder.path,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    let out = '';
    for await (const chunk of child.stdout) {
      out += String(chunk);
      if (out.includes('kubectl get namespaces')) break;
    }
    const { names, refusal } = await createUntilRefused(
      await loadKubeConfig({ file: join(folder.path, 'data', 'kubeconfig') }),
    );
    expect(refusal).toMatch(/database or disk is full|disk I\/O error/);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
    expect(await kept(join(folder.path, 'data'))).toEqual(names);
  } finally {
    if (child.exitCode === null) child.kill('SIGKILL');
  }
});

/** Creates ConfigMaps of a few kilobytes until one is refused; then reads what is there. */
async function createUntilRefused(
  config: Awaited<ReturnType<typeof loadKubeConfig>>,
): Promise<{ names: string[]; refusal: string }> {
  await using cluster = connect(await config.connection());
  const names: string[] = [];
  for (;;) {
    const name = `number-${String(names.length).padStart(4, '0')}`;
    try {
      await cluster.client.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default' },
        data: { text: 'x'.repeat(4096) },
      } as ConfigMap);
      names.push(name);
    } catch (error) {
      expect(await cluster.client.get(ConfigMap, { namespace: 'default', name: names.at(-1) ?? 'none' })).toBeDefined();
      return { names, refusal: (error as Error).message };
    }
  }
}

/** What is in the folder of a cluster that was stopped, read from a copy on another disk. */
async function kept(data: string): Promise<string[]> {
  await using copy = await temporaryFolder();
  for (const file of ['cluster.db', 'cluster.db-wal']) {
    const bytes = await readFile(join(data, file)).catch(() => undefined);
    if (bytes) await writeFile(join(copy.path, file), bytes);
  }
  await using cluster = await startCluster({ dataDir: copy.path, controllers: 'none' });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test', clock: systemClock });
  const names: string[] = [];
  for await (const { metadata } of client.list(ConfigMap, { namespace: 'default' }))
    if (metadata.name!.startsWith('number-')) names.push(metadata.name!);
  return names.sort();
}
