import { HookFailure, runHooks } from './hooks.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import { recordedRevision } from './recorded-revision.ts';
import type { Release, ReleaseHook } from './release.ts';

export interface TestOptions {
  readonly name: string;
  readonly namespace: string;
  /** In milliseconds. Default 300 000. */
  readonly timeoutMs?: number | undefined;
  /** Which tests to run. Default: all. */
  readonly isWanted?: (hook: ReleaseHook) => boolean;
}

/** A release with how its tests went. */
export interface TestedRelease {
  readonly release: Release;
  /** Why a test failed. */
  readonly failure?: HookFailure;
}

/**
 * Runs the tests of a release, one after the other until one fails, and records how they went, unless somebody went on with the release meanwhile: a revision
 * that is superseded would be deployed again.
 */
export async function testRelease(context: ReleaseContext, options: TestOptions): Promise<TestedRelease> {
  const operation = new Operation(context, options.timeoutMs);
  const release = await recordedRevision(operation.storage, options);
  return await operation.heartbeat(release, async () => {
    try {
      const tested = { ...release, hooks: await runHooks(operation, release, 'test', options.isWanted) };
      await operation.record(tested);
      return { release: tested };
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      const tested = { ...release, hooks: error.hooks };
      await operation.record(tested);
      return { release: tested, failure: error };
    }
  });
}
