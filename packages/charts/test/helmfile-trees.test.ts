import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '@slipway/testing';
import { afterAll, expect, it, onTestFailed } from 'vitest';

import { ourAnswers, theirAnswers, writeTree } from './helmfile-answers.ts';
import { randomTree } from './helmfile-trees.ts';
import { findHelmfile } from './real-helmfile.ts';

/**
 * Trees of states nobody wrote, asked of helmfile and of us. FUZZ_SEED and FUZZ_RUNS choose others and more; the seed is fixed
 * otherwise, so that a lane does not fail for what nobody changed.
 */
const seed = process.env['FUZZ_SEED'] ?? '13';
const runs = Number(process.env['FUZZ_RUNS'] ?? 40);
const real = await findHelmfile();
if (real.missing !== undefined) process.stdout.write(`SKIPPED random trees against helmfile: ${real.missing}\n`);

const scratch = mkdtempSync(join(tmpdir(), 'slipway-helmfile-trees-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const trees = Array.from({ length: runs }, (_, index) => `${seed}/${index}`);

it.runIf(real.missing === undefined).each(trees)(
  'helmfile and our commands agree on the random tree %s',
  { timeout: 60_000 },
  async (name) => {
    const tree = randomTree(new SeededRandom(name));
    const folder = writeTree(tree, scratch);
    onTestFailed(() => void process.stdout.write(`${JSON.stringify(tree, undefined, 1)}\n`));
    expect(await ourAnswers(tree, folder)).toEqual(await theirAnswers(tree, folder, real));
  },
);
