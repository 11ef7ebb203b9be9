import { globSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type UserWorkspaceConfig } from 'vitest/config';

import { FlakyReporter } from './tools/flaky-tests/flaky-reporter.ts';
import { asksRealCluster } from './tools/reference-lane/asks-real-cluster.ts';

/** `npm run test:reference`: the cluster tests, against the real API server. */
const reference = process.env['SLIPWAY_CLUSTER'] === 'reference';

const clusterTests = [
  'packages/*/test/**/*.test.ts',
  'examples/*/**/*.test.ts',
  'tools/*/**/*.test.ts',
  'docs/**/*.test.ts',
];

/** Of the cluster tests those without a cluster: the real one tells nothing about them, and `npm test` runs them. */
function withoutCluster(): string[] {
  const root = import.meta.dirname;
  const files = globSync(clusterTests, { cwd: root, exclude: ['**/node_modules/**'] }).filter(
    (file) => !asksRealCluster(join(root, file)),
  );
  process.stdout.write(`left to npm test, ${files.length} files that ask no real cluster: ${files.sort().join(' ')}\n`);
  return files;
}

/** Their kit follows all work of the process with files and keys, which would slow down everybody else. */
const btpManager = ['packages/btp-manager/test/**/*.test.ts'];

/** Files that change their process for whoever comes after them. */
const changeTheirProcess = [
  // Fakes the timers before undici starts one.
  'packages/kube/test/watch-failures/silence.test.ts',
  // Puts a full disk in the place of node:fs/promises before anything has it.
  'packages/app-platform/test/disk-full.test.ts',
];

export default defineConfig({
  test: {
    projects: reference
      ? // Each file has a real cluster of its own, which ends with its process.
        [project('on a real cluster', { include: clusterTests, exclude: withoutCluster(), isolate: true })]
      : [
          // Most files keep nothing to themselves, so a worker takes one after the other with its modules loaded.
          project('on the embedded cluster', {
            include: ['packages/*/src/**/*.test.ts', ...clusterTests],
            exclude: [...btpManager, ...changeTheirProcess],
            isolate: false,
          }),
          project('btp-manager on a cluster', { include: btpManager, isolate: false }),
          project('in a process of its own', { include: changeTheirProcess, isolate: true }),
        ],
    // What needed another try is reported as a failure at the end.
    reporters: ['default', new FlakyReporter()],
    // Tests also wait, for processes and for real clusters: three of them keep two cores busy.
    maxWorkers: 3,
    sequence: { shuffle: { files: true, tests: false } },
  },
});

interface Files {
  readonly include: string[];
  readonly exclude?: readonly string[];
  /** Whether each file gets a worker of its own. */
  readonly isolate: boolean;
}

function project(name: string, { include, exclude = [], isolate }: Files): UserWorkspaceConfig {
  return {
    test: {
      name,
      include,
      isolate,
      // The attacks are on the embedded server whatever the cluster; `npm run test:attacks` has them alone.
      exclude: ['**/node_modules/**', ...exclude, ...(reference ? ['packages/*/test/attacks/**'] : [])],
      pool: 'forks',
      testTimeout: reference ? 300_000 : 30_000,
      hookTimeout: reference ? 300_000 : 30_000,
      // A real cluster lives on real time, and so does a busy continuous-integration machine: more tries tell a flake from a fault.
      retry: reference ? 2 : process.env['CI'] ? 1 : 0,
      unstubEnvs: true,
      execArgv: ['--no-warnings=ExperimentalWarning', '--expose-gc'],
    },
  };
}
