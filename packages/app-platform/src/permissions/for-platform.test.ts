import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entriesOf } from '@slipway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { writeFiles } from '../../test/git-kit.ts';
import { appPlatformOperator } from '../operator.ts';
import { referencePlatform } from '../values/reference-platform.ts';
import { permissionsForPlatform } from './for-platform.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-permissions-'));
  await cp(referencePlatform, folder, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

test('for the reference platform they are those the operator declares', async () => {
  expect(await permissionsForPlatform(folder)).toEqual(appPlatformOperator.permissions);
});

test('a release that is switched off counts, and so do its hooks', async () => {
  await writeFiles(folder, {
    'charts/batch/Chart.yaml': 'apiVersion: v2\nname: batch\nversion: 1.0.0\n',
    'charts/batch/templates/all.yaml': `apiVersion: batch/v1
kind: CronJob
metadata: { name: nightly }
---
apiVersion: v1
kind: Pod
metadata: { name: before, annotations: { helm.sh/hook: pre-install } }
`,
    'helmfile.d/helmfile-20.batch.yaml': 'releases: [{ name: batch, chart: ../charts/batch, installed: false }]\n',
  });
  const before = new Set(entriesOf(appPlatformOperator.permissions));
  const added = entriesOf(await permissionsForPlatform(folder)).filter((entry) => !before.has(entry));
  const verbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
  expect(added).toEqual([...verbs.map((verb) => `${verb} cronjobs.batch`), ...verbs.map((verb) => `${verb} pods.`)]);
});

test('a chart that no release renders is named, and where to bring it in', async () => {
  await writeFiles(folder, { 'values-sample.yaml': undefined });
  await expect(permissionsForPlatform(folder)).rejects.toMatchObject({
    message: 'no release renders charts/team, charts/team-workload',
    hint: expect.stringContaining('values-sample.yaml'),
  });
});

test('a folder that is no platform is named', async () => {
  await expect(permissionsForPlatform(join(folder, 'nowhere'))).rejects.toMatchObject({
    message: `${join(folder, 'nowhere')} is no platform: it has no values-schema.yaml`,
    hint: expect.stringContaining('slipway platform init'),
  });
});
