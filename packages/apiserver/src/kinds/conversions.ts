import type { ApiObject } from '../object.ts';
import type { Conversion } from '../resource.ts';
import { autoscalerToV1, autoscalerToV2 } from './autoscalers.ts';
import { eventToCore, eventToGroup } from './events.ts';

function each(convert: (object: ApiObject) => ApiObject): (objects: readonly ApiObject[]) => ApiObject[] {
  return (objects) => objects.map(convert);
}

/** How a built-in version is converted from and to the version its objects are stored in; absent when they are the same. */
export function conversionOf(group: string, version: string, kind: string): Conversion | undefined {
  if (group === 'events.k8s.io' && kind === 'Event') {
    return { toStorage: each(eventToCore), fromStorage: each(eventToGroup) };
  }
  if (group === 'autoscaling' && version === 'v1' && kind === 'HorizontalPodAutoscaler') {
    return { toStorage: each(autoscalerToV2), fromStorage: each(autoscalerToV1) };
  }
  return undefined;
}

/** Where a built-in resource is stored, when that is not simply under its own group and version. */
export function storageOf(
  group: string,
  plural: string,
  _version: string,
): { storageId: string; storageVersion: string } | undefined {
  if (plural === 'events' && (group === '' || group === 'events.k8s.io')) {
    return { storageId: 'events', storageVersion: 'v1' };
  }
  if (group === 'autoscaling' && plural === 'horizontalpodautoscalers') {
    return { storageId: 'horizontalpodautoscalers.autoscaling', storageVersion: 'v2' };
  }
  return undefined;
}
