import { defineConfig } from 'vitest/config';

const reference = process.env['SLIPWAY_CLUSTER'] === 'reference';

export default defineConfig({
  test: {
    include: [
      'packages/*/{src,test}/**/*.test.ts',
      'examples/*/**/*.test.ts',
      'tools/*/**/*.test.ts',
      'docs/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: reference ? 120_000 : 20_000,
    hookTimeout: reference ? 120_000 : 20_000,
    unstubEnvs: true,
    sequence: { shuffle: { files: true, tests: false } },
    execArgv: ['--no-warnings=ExperimentalWarning', '--expose-gc'],
  },
});
