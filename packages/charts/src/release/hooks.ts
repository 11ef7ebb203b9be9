import type { KubeObject } from '@slipway/kube';

import type { HookEvent } from '../render/manifests.ts';
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
  const ordered = due.toSorted((a, b) => a.weight - b.weight || compare(a.name, b.name));
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
      const objects = await makeHook(operation, release, hook);
      isMade = true;
      for (const each of objects) await completion(operation, each);
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

async function makeHook(operation: Operation, release: Release, hook: ReleaseHook): Promise<ReleaseObject[]> {
  const objects = await readObjects(operation.client, hook.manifest, release.namespace);
  for (const each of objects) {
    // As Helm 4 does: one that is still there from before is no obstacle, fields of somebody else are.
    await operation.apply(each.object, { force: false }).catch((error: unknown) => {
      throw error instanceof ReleaseError ? error : refusedObject(each, error);
    });
    operation.say({ type: 'hook', object: objectText(each) });
  }
  return objects;
}

/** Only what runs can end: a Job and a Pod. Everything else is done when it exists. */
async function completion(operation: Operation, each: ReleaseObject): Promise<void> {
  const { kind, object } = each;
  const runs = (kind.group === 'batch' && kind.kind === 'Job') || (kind.group === '' && kind.kind === 'Pod');
  if (!runs) return;
  const { name, namespace } = object.metadata;
  await operation.until(async () => {
    const present = await operation.client.get(kind, { name: name!, namespace });
    const outcome = present === undefined ? undefined : outcomeOf(present as KubeObject);
    if (outcome === 'succeeded') return undefined;
    if (outcome === 'failed')
      throw new ReleaseError('HookFailed', `${objectText(each)} failed`, { hint: 'its logs say why' });
    return { object: objectText(each), message: 'it has not completed' };
  });
}

function outcomeOf(object: KubeObject): 'succeeded' | 'failed' | undefined {
  const status = (object['status'] ?? {}) as { phase?: string; conditions?: { type: string; status: string }[] };
  const holds = (type: string): boolean =>
    status.conditions?.some((held) => held.type === type && held.status === 'True') ?? false;
  if (status.phase === 'Succeeded' || holds('Complete')) return 'succeeded';
  if (status.phase === 'Failed' || holds('Failed')) return 'failed';
  return undefined;
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
