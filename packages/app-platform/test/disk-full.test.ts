import type * as FilePromises from 'node:fs/promises';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onReference } from '@slipway/testing';
import { expect, test, vi } from 'vitest';

import { writeWhole } from '../src/values/write-file.ts';
import { platformWorld } from './platform-kit.ts';

/** Below which folder nothing fits any more. */
const disk = vi.hoisted(() => ({ fullBelow: undefined as string | undefined }));

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof FilePromises>();
  return {
    ...real,
    /** A full disk takes what still fits, and fails. */
    async writeFile(...[path, data, ...rest]: Parameters<typeof real.writeFile>) {
      const isFull = disk.fullBelow !== undefined && String(path).startsWith(disk.fullBelow);
      if (!isFull) return await real.writeFile(path, data, ...rest);
      await real.writeFile(path, String(data).slice(0, 10));
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    },
  };
});

test('a file that does not fit on the disk is as it was, and nothing is left beside it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-disk-'));
  const path = join(folder, 'a.yaml');
  await writeFile(path, 'spec: {replicas: 3}\n');
  disk.fullBelow = folder;
  await expect(writeWhole(path, 'spec: {replicas: 4, and: more}\n')).rejects.toMatchObject({ code: 'ENOSPC' });
  disk.fullBelow = undefined;
  expect(await readFile(path, 'utf8')).toBe('spec: {replicas: 3}\n');
  expect(await readdir(folder)).toEqual(['a.yaml']);
  await rm(folder, { recursive: true });
});

test(
  'disk full in the middle of an apply: it fails with the reason, and no half file ever reaches Git',
  { timeout: 300_000 },
  async () => {
    await using world = await platformWorld({ env: onReference ? { RECONCILE_INTERVAL_MS: '3000' } : {} });
    await world.cluster.run([world.controller()]);
    await world.applied();
    disk.fullBelow = world.settings.envDir;
    const team = await world.git.push(
      { 'env/teams/blue/settings.yaml': 'kind: AplTeamSettingSet\nspec: {}\n' },
      'a team',
    );
    const failed = await world.applied(team);
    disk.fullBelow = undefined;
    expect(failed).toMatchObject({ status: 'failed' });
    expect(failed['errorMessage']).toContain('ENOSPC');
    const state = await world.cluster.eventually('the next reconcile succeeds', async () => {
      const now = await world.applied();
      return now['status'] === 'succeeded' ? now : undefined;
    });
    expect(state).toMatchObject({ commitHash: team });
    const reader = world.git.copy('reader');
    await reader.prepare();
    await reader.takeRemote();
    const written = await readFile(join(reader.directory, 'env/teams/blue/policies/require-labels.yaml'), 'utf8');
    expect(written).toContain('Audit');
    const left = (await reader.entries('.')).map(({ path }) => path).filter((path) => path.includes('tmp'));
    expect(left).toEqual([]);
  },
);
