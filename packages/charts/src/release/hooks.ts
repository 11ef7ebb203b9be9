import type { KubeObject } from '@slipway/kube';

import { utf8Compare } from '../go/bytes.ts';
import type { HookEvent } from '../render/manifests.ts';
import { hookEnd } from './hook-end.ts';
import { objectText, readObjects, type ReleaseObject } from './objects.ts';
import type { Operation } from './operation.ts';
import { refusedObject } from './refusal.ts';
import type { Release, ReleaseHook } from './release.ts';
import { ReleaseError, textOf } from './release-error.ts';

/**
 * Runs the hooks of an event, by weight and name, each to its end before the next. What becomes of them afterwards is their policy's to say. Answers the
 * hooks with how they went.
 */
export async function runHooks(
  operation: Operation,
  release: Release,
  event: HookEvent,
  isWanted: (hook: ReleaseHook) => boolean = () => true,
): Promise<readonly ReleaseHook[]> {
  const due = release.hooks.filter((hook) => hook.events.includes(event) && isWanted(hook));
  if (due.length === 0) return release.hooks;
  operation.say({ type: 'phase', text: `${event} hooks` });
  // The record has them in the order of kinds, which is left to decide between hooks of one name.
  const ordered = due.toSorted((a, b) => a.weight - b.weight || utf8Compare(a.name, b.name));
  const ran = new Map<ReleaseHook, ReleaseHook>();
  const recorded = (): ReleaseHook[] => release.hooks.map((hook) => ran.get(hook) ?? hook);
  for (const [index, hook] of ordered.entries()) {
    await cleanUp(operation, release, [hook], 'before-hook-creation');
    const startedAt = operation.now();
    const enter = (phase: 'Running' | 'Succeeded' | 'Failed'): void => {
      // The policy that counted is recorded with it, as Helm does.
      const lastRun = { startedAt, completedAt: phase === 'Running' ? '' : operation.now(), phase };
      ran.set(hook, { ...hook, deletePolicies: [...policiesOf(hook)], lastRun });
    };
    enter('Running');
    await operation.record({ ...release, hooks: recorded() });
    let isMade = false;
    try {
      const made = await makeHook(operation, release, hook);
      isMade = true;
      for (const [each, present] of made) await hookEnd(operation, each, present);
      enter('Succeeded');
    } catch (error) {
      enter('Failed');
      // What policies say about a failure is about one that ran. That it failed counts more than what is left of it.
      if (isMade) {
        await cleanUp(operation, release, [hook], 'hook-failed').catch(() => undefined);
        await cleanUp(operation, release, ordered.slice(0, index), 'hook-succeeded').catch(() => undefined);
      }
      throw new HookFailure(error, recorded());
    }
  }
  await cleanUp(operation, release, ordered.toReversed(), 'hook-succeeded');
  return recorded();
}

/** A hook that failed, with the hooks as they are to be recorded. */
export class HookFailure extends ReleaseError {
  readonly hooks: readonly ReleaseHook[];

  constructor(cause: unknown, hooks: readonly ReleaseHook[]) {
    const hint = cause instanceof ReleaseError ? cause.hint : '';
    super('HookFailed', `a hook failed: ${textOf(cause)}`, { hint, cause });
    this.hooks = hooks;
  }
}

/** Writes the objects of a hook. Answers what has to come to its end: each as it is said to be, and as the server has it. */
async function makeHook(
  operation: Operation,
  release: Release,
  hook: ReleaseHook,
): Promise<(readonly [ReleaseObject, KubeObject])[]> {
  const made: (readonly [ReleaseObject, KubeObject])[] = [];
  for (const each of await readObjects(operation.client, hook.manifest, release.namespace)) {
    // As Helm 4 does: one that is still there from before is no obstacle, fields of somebody else are.
    const present = await operation.apply(each.object, { force: false }).catch((error: unknown) => {
      throw error instanceof ReleaseError ? error : refusedObject(each, error);
    });
    operation.say({ type: 'hook', object: objectText(each) });
    made.push([each, present]);
  }
  return made;
}

async function cleanUp(
  operation: Operation,
  release: Release,
  hooks: readonly ReleaseHook[],
  policy: string,
): Promise<void> {
  for (const hook of hooks) {
    // The definition of a kind would take everybody's objects of it along.
    if (hook.kind === 'CustomResourceDefinition' || !policiesOf(hook).has(policy)) continue;
    for (const each of await readObjects(operation.client, hook.manifest, release.namespace))
      await operation.remove(each, true);
  }
}

function policiesOf(hook: ReleaseHook): ReadonlySet<string> {
  return new Set(hook.deletePolicies.length === 0 ? ['before-hook-creation'] : hook.deletePolicies);
}
