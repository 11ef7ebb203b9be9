import { chmod, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { ownFolder } from './compiled-code.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'slipway-compiled-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

test('compiled code is kept below the cache folder of the user, where nobody else can write', async () => {
  const folder = join(home, '.cache', 'slipway', 'compiled');
  expect(ownFolder({ HOME: home })).toBe(folder);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect(ownFolder({ HOME: home, XDG_CACHE_HOME: join(home, 'other') })).toBe(
    join(home, 'other', 'slipway', 'compiled'),
  );
});

test('a folder others can write to, a link, or none at all keeps nothing: what lies there would be run', async () => {
  const above = join(home, '.cache', 'slipway');
  await mkdir(above, { recursive: true });
  await mkdir(join(home, 'elsewhere'), { mode: 0o700 });
  await symlink(join(home, 'elsewhere'), join(above, 'compiled'));
  expect(ownFolder({ HOME: home })).toBeUndefined();
  await rm(join(above, 'compiled'));
  await mkdir(join(above, 'compiled'));
  await chmod(join(above, 'compiled'), 0o777);
  expect(ownFolder({ HOME: home })).toBeUndefined();
  expect(ownFolder({ HOME: '/dev/null' })).toBeUndefined();
});
