import { onReference, skipped, sweepCrashes } from '@slipway/testing';
import { expect, test } from 'vitest';

import { platformLife, type Folder } from './life.ts';

const full = process.env['SLIPWAY_SWEEP'] === 'full';
const leftOut = skipped(
  onReference || !full,
  'a crash at every call of an installation and of applies: it needs virtual time and minutes (npm run test:sweep)',
);

/** `SLIPWAY_SOAK=1 npm run test:sweep` crashes at every call, which takes a quarter of an hour; without it every fifth call has its crash. */
const every = process.env['SLIPWAY_SOAK'] === '1' ? 1 : 5;
const folders: readonly (readonly [Folder, string])[] = [
  ['kept', 'a container started again in its folder'],
  ['new', 'a pod started again in an empty folder'],
];

test.skipIf(leftOut).each(folders)(
  'crash at any call to the API server or to Git, folder %s: %s ends where nothing crashed, with the same secrets, CA and keys',
  { timeout: 3_600_000 },
  async (folder) => {
    const { points, requests } = await sweepCrashes(platformLife(folder), {
      stride: every,
      phases: ['after'],
      progress: (point) => process.env['SLIPWAY_SWEEP_PROGRESS'] && process.stdout.write(`${folder}: ${point}\n`),
    });
    expect(points).toBeGreaterThan(80 / every - 1);
    process.stdout.write(`crash sweep, folder ${folder}: ${points} points of ${requests} calls\n`);
  },
);
