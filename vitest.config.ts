import { defineConfig, type UserWorkspaceConfig } from 'vitest/config';

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
    projects: [
      // Tests beside the code keep nothing to themselves, so a worker takes one file after the other with its modules loaded.
      ...(reference ? [] : [project('beside the code', ['packages/*/src/**/*.test.ts'], { isolate: false })]),
      project('on a cluster', clusterTests, { isolate: true }),
    ],
    // What needed another try is reported as a failure at the end.
    reporters: ['default', new FlakyReporter()],
    maxWorkers: 2,
    sequence: { shuffle: { files: true, tests: false } },
  },
});

function project(name: string, include: string[], { isolate }: { readonly isolate: boolean }): UserWorkspaceConfig {
  return {
    test: {
      name,
      include,
      isolate,
      // The attacks are on the embedded server whatever the cluster; `npm run test:attacks` has them alone.
      exclude: ['**/node_modules/**', ...(reference ? ['packages/*/test/attacks/**'] : [])],
      pool: 'forks',
      testTimeout: reference ? 120_000 : 30_000,
      hookTimeout: reference ? 120_000 : 30_000,
      // A real cluster lives on real time, and so does a busy continuous-integration machine: one more try tells a flake from a fault.
      retry: reference || process.env['CI'] ? 1 : 0,
      unstubEnvs: true,
      execArgv: ['--no-warnings=ExperimentalWarning', '--expose-gc'],
    },
  };
}
