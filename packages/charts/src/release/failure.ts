import { HookFailure } from './hooks.ts';
import type { Operation } from './operation.ts';
import type { Release } from './release.ts';
import { ReleaseError, textOf } from './release-error.ts';

/** Stores that a revision failed, and why. Where that cannot be stored, the reason counts more; the revision will be found abandoned. */
export async function fail(operation: Operation, release: Release, error: unknown, what = 'Release'): Promise<void> {
  const hooks = error instanceof HookFailure ? error.hooks : release.hooks;
  const failed: Release = {
    ...release,
    hooks,
    status: 'failed',
    description: `${what} "${release.name}" failed: ${textOf(error)}`,
  };
  if (operation.isInterrupted)
    operation.say({ type: 'phase', text: `interrupted: ${release.name} is marked as failed` });
  try {
    await operation.record(failed);
  } catch {
    // What it says may be what makes the record too large.
    const description = `${failed.description.slice(0, 200)}…`;
    await operation.record({ ...failed, description }).catch(() => undefined);
  }
}

/** Undoes work that failed. Where that fails, too, why the work failed still counts more. */
export async function undo(failure: unknown, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new ReleaseError('Refused', `${textOf(failure)}; and it could not be ${what}: ${textOf(error)}`, {
      hint: error instanceof ReleaseError ? error.hint : '',
      cause: failure,
    });
  }
}
