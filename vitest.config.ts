import { defineConfig } from 'vitest/config';

import { FlakyReporter } from './tools/flaky-tests/flaky-reporter.ts';

/** `npm run test:reference`: the cluster tests, against the real API server. */
const reference = process.env['SLIPWAY_CLUSTER'] === 'reference';

const clusterTests = [
  'packages/*/test/**/*.test.ts',
  'examples/*/**/*.test.ts',
  'tools/*/**/*.test.ts',
  'docs/**/*.test.ts',
];

export default defineConfig({
  test: {
    include: reference ? clusterTests : ['packages/*/src/**/*.test.ts', ...clusterTests],
    // The attacks are on the embedded server whatever the cluster; `npm run test:attacks` has them alone.
    exclude: ['**/node_modules/**', ...(reference ? ['packages/*/test/attacks/**'] : [])],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: reference ? 120_000 : 30_000,
    hookTimeout: reference ? 120_000 : 30_000,
    // A real cluster lives on real time, and so does a busy continuous-integration machine: one more try tells a flake from a fault.
    retry: reference || process.env['CI'] ? 1 : 0,
    // What needed it is reported as a failure at the end.
    reporters: ['default', new FlakyReporter()],
    unstubEnvs: true,
    sequence: { shuffle: { files: true, tests: false } },
    execArgv: ['--no-warnings=ExperimentalWarning', '--expose-gc'],
  },
});
