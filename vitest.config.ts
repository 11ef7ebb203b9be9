import { defineConfig } from 'vitest/config';

/** `npm run test:reference`: the cluster tests, against the real API server. */
const reference = process.env['SLIPWAY_CLUSTER'] === 'reference';

const clusterTests = ['packages/*/test/**/*.test.ts', 'examples/*/**/*.test.ts', 'tools/*/**/*.test.ts', 'docs/**/*.test.ts'];

export default defineConfig({
  test: {
    include: reference ? clusterTests : ['packages/*/src/**/*.test.ts', ...clusterTests],
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: reference ? 120_000 : 30_000,
    hookTimeout: reference ? 120_000 : 30_000,
    unstubEnvs: true,
    sequence: { shuffle: { files: true, tests: false } },
    execArgv: ['--no-warnings=ExperimentalWarning', '--expose-gc'],
  },
});
