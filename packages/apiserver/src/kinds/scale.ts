import type { ApiObject, JsonObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { setValueAtPath, valueAtPath } from '../crd/field-path.ts';
import { asNumber, asText, dig } from './json-access.ts';
import { labelsText, selectorText } from './selectors.ts';

/** What the `/scale` subresource shows of an object. */
export interface ScaleView {
  readonly specReplicas: number;
  readonly statusReplicas: number;
  /** Text form; absent when the kind tells none. */
  readonly selector?: string;
}

export function readScale(object: ApiObject, resource: Pick<Resource, 'scale'>): ScaleView {
  const paths = resource.scale;
  if (!paths) {
    const selector = dig(object, 'spec', 'selector');
    // Replication controllers select with a bare map, everything newer with a LabelSelector.
    const plain = object.kind === 'ReplicationController';
    return {
      specReplicas: asNumber(dig(object, 'spec', 'replicas')) ?? 0,
      statusReplicas: asNumber(dig(object, 'status', 'replicas')) ?? 0,
      selector: plain ? labelsText(selector) : selectorText(selector),
    };
  }
  const selector = paths.labelSelectorPath ? asText(valueAtPath(object, paths.labelSelectorPath)) : '';
  return {
    specReplicas: asNumber(valueAtPath(object, paths.specReplicasPath)) ?? 0,
    statusReplicas: asNumber(valueAtPath(object, paths.statusReplicasPath)) ?? 0,
    ...(selector ? { selector } : {}),
  };
}

/** Sets the wanted number of replicas in place. */
export function writeScale(object: ApiObject, replicas: number, resource: Pick<Resource, 'scale'>): void {
  setValueAtPath(object as unknown as JsonObject, resource.scale?.specReplicasPath ?? '.spec.replicas', replicas);
}
