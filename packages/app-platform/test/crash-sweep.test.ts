import { onReference, skipped, sweepCrashes } from '@slipway/testing';
import { expect, test } from 'vitest';

import { platformLife, type Folder } from './life.ts';

const full = process.env['SLIPWAY_SWEEP'] === 'full';
const embeddedOnly = skipped(
  onReference,
  'on the real API server: a crash at every call of an installation and of applies, which needs virtual time',
);

/** `npm run test:sweep` crashes at every call; `npm test` at a few of them. */
const folders: readonly (readonly [Folder, string])[] = [
  ['kept', 'a container started again in its folder'],
  ['new', 'a pod started again in an empty folder'],
];

test.skipIf(embeddedOnly).each(full ? folders : folders.slice(0, 1))(
  'crash at any call to the API server or to Git, folder %s: %s ends where nothing crashed, with the same secrets, CA and keys',
  { timeout: full ? 3_600_000 : 300_000 },
  async (folder) => {
    const { points, requests } = await sweepCrashes(platformLife(folder, { short: !full }), {
      stride: full ? 1 : 31,
      phases: ['after'],
      progress: (point) => process.env['SLIPWAY_SWEEP_PROGRESS'] && process.stdout.write(`${folder}: ${point}\n`),
    });
    expect(points).toBeGreaterThan(full ? 80 : 2);
    process.stdout.write(`crash sweep, folder ${folder}: ${points} points of ${requests} calls\n`);
  },
);
