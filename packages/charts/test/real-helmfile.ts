import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { oracleInLane } from '@slipway/oracles';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';

/** What the states of tests find in the environment. */
export const variables = { IMAGE_TAG: 'v7' };

/** It said that something is wrong. */
export class ProgramFailed extends Error {}

/** The real helmfile, which forks the real helm. */
export interface RealHelmfile {
  /** Why it cannot be asked. */
  readonly missing: string | undefined;
  readonly run: (args: readonly string[], where: { readonly home: string; readonly cwd?: string }) => string;
}

export async function findHelmfile(): Promise<RealHelmfile> {
  const oracle = await oracleInLane('helmfile');
  const binaries = await ensureReferenceBinaries({ build: false });
  const helm = binaries.available ? binaries.helm : undefined;
  const missing = oracle.available ? (helm === undefined ? 'no helm binary' : undefined) : oracle.reason;
  return {
    missing,
    run: (args, { home, cwd }) => {
      const { stdout, stderr, status } = spawnSync(oracle.available ? oracle.path : '', args, {
        ...(cwd === undefined ? {} : { cwd }),
        env: { ...variables, PATH: `${dirname(helm!)}${delimiter}${process.env['PATH']}`, HOME: home },
        encoding: 'utf8',
        maxBuffer: 1 << 28,
      });
      if (status !== 0) throw new ProgramFailed(stderr);
      return stdout;
    },
  };
}
