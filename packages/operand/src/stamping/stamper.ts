import type { CacheEvent, DeepReadonly, KubeObject, ObjectKey } from '@slipway/kube';

import { labelValue, names } from '../names.ts';

type Stamped = Pick<DeepReadonly<KubeObject>['metadata'], 'labels' | 'annotations'>;

/** What marks an Operand as stamped: labels to select by, and the whole key where a label would be too short for it. */
export function stamperMarks(stamper: ObjectKey): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  const { name, namespace } = stamper;
  return {
    labels: {
      [names.stamperNameLabel]: labelValue(name),
      ...(namespace ? { [names.stamperNamespaceLabel]: labelValue(namespace) } : {}),
    },
    annotations: { [names.stamperAnnotation]: namespace ? `${namespace}/${name}` : name },
  };
}

/** Who stamped an Operand; `undefined` for one made by a person. */
export function stamperOf(metadata: Stamped): ObjectKey | undefined {
  const whole = metadata.annotations?.[names.stamperAnnotation];
  if (whole !== undefined) {
    const [first = '', second] = whole.split('/');
    return second === undefined ? { name: first } : { namespace: first, name: second };
  }
  // Stamped by the original, which knows labels only.
  const name = metadata.labels?.[names.stamperNameLabel];
  const namespace = metadata.labels?.[names.stamperNamespaceLabel];
  if (name === undefined) return undefined;
  return namespace ? { namespace, name } : { name };
}

/**
 * For the `watches` of a stamping controller: an event of an Operand wakes the object it was stamped for.
 *
 * @example
 * controller({ for: Platform, watches: [{ kind: Operand, map: wakeStamper }], … })
 */
export function wakeStamper(event: CacheEvent): readonly ObjectKey[] {
  const stamper = stamperOf(event.meta);
  return stamper ? [stamper] : [];
}

export function sameKey(a: ObjectKey, b: ObjectKey): boolean {
  return a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '');
}

export function keyText({ name, namespace }: ObjectKey): string {
  return namespace ? `${namespace}/${name}` : name;
}
