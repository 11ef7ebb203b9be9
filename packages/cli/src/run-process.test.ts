import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { skipped } from '@slipway/testing';
import { expect, test } from 'vitest';

import { wantsColours } from './run-process.ts';

test.each([
  [{}, true],
  [{ NO_COLOR: '' }, true],
  [{ NO_COLOR: '1' }, false],
  [{ TERM: 'xterm' }, true],
  [{ TERM: 'dumb' }, false],
])('%j: colours on a terminal are %j', (env, wanted) => {
  expect(wantsColours(env)).toBe(wanted);
});

const full = '/dev/full';

test.skipIf(skipped(!existsSync(full), `output to a full device: there is no ${full}`))(
  'output that could not be written is a failure, also on a device',
  () => {
    const device = openSync(full, 'w');
    const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), '--version'], {
      stdio: ['ignore', device, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(device);
    expect([status, stderr]).toEqual([1, expect.stringContaining('ENOSPC')]);
  },
);
