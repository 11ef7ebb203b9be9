import { join } from 'node:path';
import { expect, test } from 'vitest';

import { asksRealCluster } from './asks-real-cluster.ts';

const reading = (files: Record<string, string>) => (path: string) => files[path];
const asks = (text: string): boolean => asksRealCluster('a.test.ts', reading({ 'a.test.ts': text }));

test('a test that takes a cluster of the kit asks the real one', () => {
  expect(asks("import { testCluster } from '@slipway/testing';")).toBe(true);
  expect(asks("import {\n  skipped,\n  playStorm,\n} from '@slipway/testing';")).toBe(true);
  expect(asks("import * as kit from '@slipway/testing';")).toBe(true);
  expect(asks("const { testCluster } = await import('@slipway/testing');")).toBe(true);
});

test('a test that asks an oracle or looks at the lane belongs to it', () => {
  expect(asks("import { oracleInLane } from '@slipway/oracles';")).toBe(true);
  expect(asks("import { startReferenceCluster } from '@slipway/reference-cluster';")).toBe(true);
  expect(asks("const inLane = process.env['SLIPWAY_CLUSTER'] === 'reference';")).toBe(true);
});

test('a test that takes only clocks and chance of the kit does not', () => {
  expect(asks("import { type SeededRandom, VirtualClock, skipped } from '@slipway/testing';")).toBe(false);
  expect(asks("import { startCluster } from '@slipway/apiserver';")).toBe(false);
});

test('files that import each other by path count as one', () => {
  const files = {
    'test/a.test.ts': "import { world } from './kit.ts';",
    'test/kit.ts': "import { stage } from '../src/stage.ts';\nimport './a.test.ts';",
    'src/stage.ts': "import { testCluster } from '@slipway/testing';",
  };
  expect(asksRealCluster('test/a.test.ts', reading(files))).toBe(true);
  expect(asksRealCluster('test/a.test.ts', reading({ ...files, 'src/stage.ts': '' }))).toBe(false);
});

test.each([
  ['packages/testing/test/crash-sweep.test.ts', true],
  ['packages/control-plane/test/contract.test.ts', true],
  ['packages/charts/test/helmfile-oracle.test.ts', true],
  ['tools/reference-cluster/reference-cluster.test.ts', true],
  ['docs/links.test.ts', false],
])('%s: %s', (file, expected) => {
  expect(asksRealCluster(join(import.meta.dirname, '../..', file))).toBe(expected);
});
