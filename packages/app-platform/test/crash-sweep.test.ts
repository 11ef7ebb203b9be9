import type { TransportRequest } from '@slipway/kube';
import { onReference, skipped, sweepCrashes } from '@slipway/testing';
import { expect, test } from 'vitest';

import { platformLife, type Folder } from './life.ts';

/** `SLIPWAY_SOAK=1 npm run test:sweep` crashes at every call, which takes a quarter of an hour; without it every fifth call has its crash. */
const every = process.env['SLIPWAY_SOAK'] === '1' ? 1 : 5;
const folders: readonly (readonly [Folder, string])[] = [
  ['kept', 'a container started again in its folder'],
  ['new', 'a pod started again in an empty folder'],
];
const leftOut = skipped(
  onReference || process.env['SLIPWAY_SWEEP'] !== 'full',
  'a crash at every call of an installation and of applies: it needs virtual time and minutes (npm run test:sweep)',
);

test.skipIf(leftOut).each(folders)(
  'crash at any call to the API server or to Git, folder %s: %s ends where nothing crashed, with the same secrets, CA and keys',
  { timeout: 3_600_000 },
  async (folder) => {
    const { points, requests, killedAt } = await sweepCrashes(platformLife(folder), {
      stride: every,
      phases: ['after'],
      progress: (point) => process.env['SLIPWAY_SWEEP_PROGRESS'] && process.stdout.write(`${folder}: ${point}\n`),
    });
    expect(points).toBeGreaterThan(80 / every - 1);
    const toGit = killedAt.filter((call) => call.includes(' /git/')).length;
    expect(toGit).toBeGreaterThan(0);
    expect(toGit).toBeLessThan(points);
    process.stdout.write(
      `crash sweep, folder ${folder}: ${points} points of ${requests} calls, ${toGit} of them to Git\n`,
    );
  },
);

const isGit = ({ path }: Pick<TransportRequest, 'path'>): boolean => path.startsWith('/git/');
const some = [
  { whom: 'the API server', of: (request: TransportRequest) => !isGit(request), stride: 25 },
  { whom: 'Git', of: isGit, stride: 7 },
];
const notThere = skipped(!onReference, 'a crash at some calls on the real API server (npm run test:reference)');

test.skipIf(notThere).each(some)(
  'on the real API server: crash at some calls to $whom, and a pod started again in an empty folder ends where nothing crashed',
  { timeout: 1_200_000 },
  async ({ whom, of, stride }) => {
    const { points, requests } = await sweepCrashes(platformLife('new'), { of, stride, phases: ['after'] });
    expect(points).toBeGreaterThan(1);
    process.stdout.write(`crash sweep on the real API server: ${points} points of ${requests} calls to ${whom}\n`);
  },
);
