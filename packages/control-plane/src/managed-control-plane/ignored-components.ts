import type { DeepReadonly, KubeObject } from '@slipway/kube';

import { names, operations } from '../names.ts';

/** What a component carries that the ManagedControlPlane disables. */
export const disabledAnnotations = {
  [names.operationAnnotation]: operations.ignore,
  [names.ignoredByAnnotation]: 'ManagedControlPlane',
} as const;

type Annotated = Pick<DeepReadonly<KubeObject>, 'metadata'>;

/** Whether the component is ignored because the ManagedControlPlane disabled it. Only then is it ours to change that. */
export function isDisabledByUs({ metadata: { annotations = {} } }: Annotated): boolean {
  return Object.entries(disabledAnnotations).every(([key, value]) => annotations[key] === value);
}

/**
 * Whether somebody else has the component ignored. Everybody who touches it treats it as if it did not exist, also we: nobody but them removes the
 * annotation or changes the resource in any way.
 */
export function isIgnoredByOthers(component: Annotated): boolean {
  return (
    component.metadata.annotations?.[names.operationAnnotation] === operations.ignore && !isDisabledByUs(component)
  );
}
