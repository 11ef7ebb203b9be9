import type { Application, DeletionHook } from '../argo/application.ts';
import { argo } from '../argo/words.ts';
import { GitError } from '../git/git-error.ts';
import { namedHooks } from './operation/attempt.ts';
import { removeHooks, runHooks } from './operation/hooks.ts';
import { done, Results, type StepOutcome } from './operation/outcome.ts';
import { inWaves } from './operation/waves.ts';
import { readSpec } from './read-spec.ts';
import { readTargets, type Targets } from './read-targets.ts';
import type { SyncRun } from './run.ts';
import { SourceError } from './source/source-error.ts';
import type { Target } from './target.ts';

/** The finalizers of a moment: the first asks to run its hooks, the second to take them away. */
export const deletionFinalizers: Readonly<Record<DeletionHook, { readonly run: string; readonly cleanup: string }>> = {
  PreDelete: { run: argo.preDelete, cleanup: `${argo.preDelete}/cleanup` },
  PostDelete: { run: argo.postDelete, cleanup: `${argo.postDelete}/cleanup` },
};

/** Sees to it that whoever deletes the Application waits for the hooks it has for that, and for no others. */
export async function keepDeletionFinalizers(run: SyncRun, { deletionHooks }: Targets): Promise<void> {
  const { client, context } = run;
  for (const [moment, names] of Object.entries(deletionFinalizers)) {
    const isWanted = deletionHooks.some(({ hooks }) => hooks.includes(moment as DeletionHook));
    for (const name of [names.run, names.cleanup]) {
      if (hasFinalizer(run.application, name) === isWanted) continue;
      if (isWanted) run.application = await client.addFinalizer(run.application, name, { signal: context.signal });
      else await client.removeFinalizer(run.application, name, { signal: context.signal });
    }
  }
}

export function hasFinalizer({ metadata }: Application, name: string): boolean {
  return metadata.finalizers?.includes(name) ?? false;
}

/** Runs the hooks of a moment to their end. One that fails is taken away, so that it can run again. */
export async function runDeletionHooks(run: SyncRun, moment: DeletionHook): Promise<StepOutcome> {
  return await withHooks(run, moment, async (hooks) => {
    const outcome = await inWaves(hooks, (wave) => runHooks(run, wave, moment, new Results()));
    if (outcome.state !== 'failed') return outcome;
    await removeHooks(run, hooks, (_hook, phase) => phase === 'Failed');
    return { state: 'failed', message: `${outcome.message}; correct it and it runs again` };
  });
}

/** Takes the hooks of a moment away: nobody would after the Application is gone. */
export async function removeDeletionHooks(run: SyncRun, moment: DeletionHook): Promise<StepOutcome> {
  return await withHooks(run, moment, async (hooks) => {
    // All of them have succeeded.
    const doomed = hooks.filter(({ deletePolicies: p }) => !(p.size === 1 && p.has('HookFailed')));
    return (await removeHooks(run, doomed)) ? done : { state: 'waiting', message: `waiting for ${moment} hooks to go` };
  });
}

/** The hooks are in the source; what keeps it from being read keeps the deletion. */
async function withHooks(
  run: SyncRun,
  moment: DeletionHook,
  work: (hooks: readonly Target[]) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  let targets: Targets;
  try {
    targets = await readTargets(run, readSpec(run.application));
  } catch (error) {
    if (!(error instanceof SourceError) && !(error instanceof GitError)) throw error;
    return { state: 'failed', message: `${moment} hooks cannot be read: ${error.message}; correct it` };
  }
  // Those that an Application of the same name left behind are not the ones that are to run now.
  const { uid = '' } = run.application.metadata;
  return await work(
    namedHooks(
      targets.deletionHooks.filter(({ hooks }) => hooks.includes(moment)),
      uid,
    ),
  );
}
