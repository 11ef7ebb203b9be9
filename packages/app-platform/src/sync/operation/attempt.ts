import { refKey } from '@slipway/manifests';

import type { OperationState } from '../../argo/application.ts';
import { annotated, type Target } from '../target.ts';

/** On hooks: which attempt of which operation made them. An older one is no answer to whether this one is done. */
export const attemptAnnotation = 'app-platform.slipway.dev/attempt';

const idName = 'slipway-id';

export function operationInfo(id: string): { name: string; value: string }[] {
  return [{ name: idName, value: id }];
}

/** Tells an attempt at an operation from all others. */
export function attemptOf(state: OperationState | undefined): string {
  const id = state?.operation.info?.find(({ name }) => name === idName)?.value ?? 'none';
  return `${id}-${state?.retryCount ?? 0}`;
}

/** Hooks as an attempt makes them: marked, and with a name where they have only the beginning of one. */
export function namedHooks(hooks: readonly Target[], attempt: string): Target[] {
  return hooks.map((hook) => {
    const { generateName, ...metadata } = hook.object.metadata;
    const name =
      metadata.name ?? `${generateName ?? ''}${attempt.slice(0, 8)}${attempt.slice(attempt.lastIndexOf('-'))}`;
    const object = annotated({ ...hook.object, metadata: { ...metadata, name } }, { [attemptAnnotation]: attempt });
    const ref = { ...hook.ref, name };
    return { ...hook, object, ref, key: refKey(ref) };
  });
}
