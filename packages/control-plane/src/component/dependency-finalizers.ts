import { type Client, hasFinalizer, isConflict, isNotFound, isTerminating, type ObjectKey } from '@slipway/kube';

import { names } from '../names.ts';
import { ComponentError } from './component-error.ts';
import type { ReadonlyComponent } from './component-resource.ts';
import { componentKinds, type ComponentType, componentTypes, dependencyFinalizer } from './component-type.ts';

/** The components whose dependency finalizers are on a resource, in lower case and in order. */
export function getDependents(component: ReadonlyComponent): string[] {
  return (component.metadata.finalizers ?? [])
    .filter((candidate) => candidate.startsWith(names.dependencyFinalizerPrefix))
    .map((candidate) => candidate.slice(names.dependencyFinalizerPrefix.length))
    .sort();
}

export function hasAnyDependencyFinalizer(component: ReadonlyComponent): boolean {
  return getDependents(component).length > 0;
}

/**
 * Whether somebody who depends on it is not going. Then its own deletion was asked for by hand, and not with all the others: it may be a long
 * time until the last of them lets it go, and in that time they need it as before.
 */
export async function hasStayingDependents(
  client: Pick<Client, 'get'>,
  component: ReadonlyComponent,
  key: ObjectKey,
): Promise<boolean> {
  for (const dependent of getDependents(component)) {
    const type = componentTypes.find((each) => each.toLowerCase() === dependent);
    const found = type && (await client.get(componentKinds[type], key));
    // One of a type nobody here knows can be looked at by nobody: it may well stay.
    if (type === undefined || (found !== undefined && !isTerminating(found))) return true;
  }
  return false;
}

/** Whether `own` can no longer be put on it: nobody may begin to depend on what is being deleted. */
export function isClosedTo(own: ComponentType, dependency: ReadonlyComponent): boolean {
  return isTerminating(dependency) && !hasFinalizer(dependency, dependencyFinalizer(own));
}

const tries = 5;

/**
 * Puts the dependency finalizer of `own` on the resource of `dependency`, which has to exist. Applied, not added to a list that was read: all
 * components that depend on it do so at the same moment, and none is in the way of another.
 */
export async function ensureDependencyFinalizer(
  client: Pick<Client, 'get' | 'apply'>,
  own: ComponentType,
  dependency: ComponentType,
  key: ObjectKey,
  fetched?: ReadonlyComponent,
): Promise<void> {
  let required = fetched;
  await retryOnConflict(async () => {
    const { apiVersion, kind } = componentKinds[dependency];
    required ??= (await client.get(componentKinds[dependency], key)) as ReadonlyComponent | undefined;
    if (required === undefined) {
      throw new ComponentError(
        'CrateClusterInteractionProblem',
        `error setting dependency finalizer on ${dependency} component resource: there is none; the ManagedControlPlane has to configure it`,
      );
    }
    const { name, namespace, uid } = required.metadata;
    // What was read may be gone by now, and another one in its place: the next try reads it.
    required = undefined;
    const finalizers = [dependencyFinalizer(own)];
    await client.apply(
      { apiVersion, kind, metadata: { name, namespace, uid, finalizers } },
      { fieldManager: `control-plane-${own.toLowerCase()}` },
    );
  });
}

/** Takes it off again. A resource that is gone is fine. */
export async function removeDependencyFinalizer(
  client: Pick<Client, 'get' | 'removeFinalizer'>,
  own: ComponentType,
  dependency: ComponentType,
  key: ObjectKey,
): Promise<void> {
  await retryOnConflict(async () => {
    const required = await client.get(componentKinds[dependency], key);
    if (required === undefined || !hasFinalizer(required, dependencyFinalizer(own))) return;
    try {
      await client.removeFinalizer(required, dependencyFinalizer(own));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  });
}

/** Several components change the same object; each reads it anew and tries again. */
async function retryOnConflict(change: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await change();
      return;
    } catch (error) {
      if (attempt === tries || !isConflict(error)) throw error;
    }
  }
}
