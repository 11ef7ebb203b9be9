import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onReference, skipped } from '@slipway/testing';
import { expect, test } from 'vitest';

import { workshop } from './kit.ts';

const run = promisify(execFile);
const tsc = resolve(import.meta.dirname, '..', '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');

/** What a project says about itself: `npm run check` and `npm test`. */
async function checkAndTest(folder: string): Promise<string> {
  const { SLIPWAY_CLUSTER: _cluster, NODE_OPTIONS: _options, ...env } = process.env;
  await run(process.execPath, [tsc], { cwd: folder, env }).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
  const tests = ['--test', '--test-reporter=spec', join('test', '*.test.ts')];
  const { stdout } = await run(process.execPath, tests, { cwd: folder, env }).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
  return stdout;
}

const embeddedOnly = skipped(onReference, 'on the real API server: the tests of a scaffolded project bring their own');

test.skipIf(embeddedOnly)(
  'a new project passes its type check and its tests at once',
  { timeout: 120_000 },
  async () => {
    await using place = await workshop();
    const said = await checkAndTest(await place.project('my-operator'));
    expect(said).toContain('✔ a Website runs, follows its spec, heals');
    expect(said).toContain('✔ killed before or after any write, it comes to the same end');
    expect(said).toMatch(/ℹ fail 0\n/);
  },
);

const lane = skipped(
  !process.env['SLIPWAY_SCAFFOLD'],
  'without SLIPWAY_SCAFFOLD=1 (npm run test:scaffold): projects with several kinds, webhooks and versions, which take a minute',
);

test.skipIf(embeddedOnly || lane)(
  'so does one with two kinds, webhooks and second versions',
  { timeout: 300_000 },
  async () => {
    await using place = await workshop();
    const argv = ['--kind', 'BackupPlan', '--kind', 'Pier', '--group', 'sea.test', '--webhook', '--second-version'];
    const said = await checkAndTest(await place.project('harbour', ...argv));
    for (const kind of ['BackupPlan', 'Pier']) {
      expect(said).toContain(`✔ the API server refuses a ${kind} without a version`);
      expect(said).toContain(`✔ a ${kind} of the old version is read in the new one`);
    }
    expect(said).toMatch(/ℹ fail 0\n/);
  },
);
