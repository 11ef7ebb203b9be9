import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onReference, skipped } from '@slipway/testing';
import { expect, test } from 'vitest';

import { addKind, addVersion, addWebhook } from '../src/index.ts';
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
  { timeout: 300_000 },
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
      expect(said).toContain(`✔ a ${kind} of version v1 is read in the newest one`);
    }
    expect(said).toMatch(/ℹ fail 0\n/);
  },
);

type Add = (folder: string, kind: string) => Promise<unknown>;
const growth: [string, string[], [Add, string][]][] = [
  [
    'versions, then a webhook, then a kind with as many',
    ['--kind', 'Boat'],
    [
      [addVersion, 'Boat'],
      [addVersion, 'Boat'],
      [addVersion, 'Boat'],
      [addWebhook, 'Boat'],
      [addKind, 'Pier'],
      [addVersion, 'Pier'],
      [addWebhook, 'Pier'],
      [addVersion, 'Pier'],
    ],
  ],
  [
    'kinds and webhooks, then versions in turn',
    ['--kind', 'Boat', '--webhook', '--second-version'],
    [
      [addKind, 'Pier'],
      [addKind, 'BackupPlan'],
      [addWebhook, 'BackupPlan'],
      [addVersion, 'Boat'],
      [addVersion, 'BackupPlan'],
      [addVersion, 'Boat'],
    ],
  ],
];

test.skipIf(embeddedOnly || lane).each(growth)(
  'so does one that grew: %s',
  { timeout: 300_000 },
  async (_how, argv, additions) => {
    await using place = await workshop();
    const folder = await place.project('harbour', ...argv);
    const versions = new Map([['Boat', argv.includes('--second-version') ? 2 : 1]]);
    const refusing = new Set(argv.includes('--webhook') ? ['Boat'] : []);
    for (const [add, kind] of additions) {
      await add(folder, kind);
      if (add === addWebhook) refusing.add(kind);
      else versions.set(kind, (versions.get(kind) ?? 0) + 1);
    }
    const said = await checkAndTest(folder);
    for (const [kind, newest] of versions) {
      expect(said).toContain(`✔ a ${kind} runs, follows its spec, heals`);
      for (let version = 1; version < newest; version += 1)
        expect(said).toContain(`✔ a ${kind} of version v${version} is read in the newest one`);
    }
    for (const kind of refusing) expect(said).toContain(`✔ the API server refuses a ${kind} without a version`);
    expect(said).toMatch(/ℹ fail 0\n/);
  },
);
