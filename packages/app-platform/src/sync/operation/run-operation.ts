import type { HookType } from '../../argo/application.ts';
import type { Comparison } from '../compare.ts';
import type { ReadSpec } from '../read-spec.ts';
import type { SyncRun } from '../run.ts';
import { readSyncOptions } from '../sync-options.ts';
import type { Target } from '../target.ts';
import { applyWave } from './apply-wave.ts';
import { createNamespace } from './create-namespace.ts';
import { runHooks } from './hooks.ts';
import type { Results, StepOutcome } from './outcome.ts';
import { prune } from './prune.ts';
import { replaceObjects } from './replace-objects.ts';
import { inWaves } from './waves.ts';

/**
 * One pass through an operation, from its beginning: what is done already is found done. It ends at the first step that has to wait, and
 * fails at the first that fails.
 */
export async function runOperation(
  run: SyncRun,
  spec: ReadSpec,
  comparison: Comparison,
  results: Results,
): Promise<StepOutcome> {
  const { objects, hooks, extra, shared } = comparison;
  const state = run.application.status!.operationState!;
  const { syncOptions, prune: mayPrune = false } = state.operation.sync ?? {};
  const options = readSyncOptions(syncOptions);
  const of = (type: HookType) => hooks.filter((hook) => hook.hooks.includes(type));
  const post = of('PostSync');

  // 1. Nothing is taken from another Application: two that want one object would change it for ever.
  if (shared.length > 0)
    return {
      state: 'failed',
      message: `${shared.join(', ')} belongs to another Application; remove it from one of them`,
    };

  // 2. The namespace everything else lives in.
  await createNamespace(run, spec);

  // 3. PreSync hooks, wave by wave, each to its end.
  const before = await inWaves(of('PreSync'), (wave) => runHooks(run, wave, 'PreSync', results));
  if (before.state !== 'done') return before;

  // 4. The objects and the Sync hooks, wave by wave.
  const during = of('Sync');
  const applied = await inWaves([...objects, ...during], async (wave, isLast) => {
    const [waveHooks, waveObjects] = [wave.filter(isHook), wave.filter((target) => !isHook(target))];
    const nothingFollows = isLast && waveHooks.length === 0 && post.length === 0;
    const replaced = await replaceObjects(run, waveObjects, comparison, results);
    if (replaced.state !== 'done') return replaced;
    const written = await applyWave(run, waveObjects, nothingFollows, results);
    if (written.state === 'failed') return written;
    const ran = await runHooks(run, waveHooks, 'Sync', results);
    return ran.state === 'done' ? written : ran;
  });
  if (applied.state !== 'done') return applied;

  // 5. What is not wanted any more.
  const pruned = await prune(
    run,
    extra.filter(({ hook, mayGo }) => mayGo && (hook || mayPrune)),
    options,
    results,
  );
  if (pruned.state !== 'done') return pruned;

  // 6. PostSync hooks.
  return await inWaves(post, (wave) => runHooks(run, wave, 'PostSync', results));
}

function isHook({ hooks }: Target): boolean {
  return hooks.length > 0;
}
