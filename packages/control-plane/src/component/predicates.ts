import { type CacheEvent, type DeepReadonly, jsonEqual, type KubeObject } from '@slipway/kube';
import { generationChanged, labelsChanged, not, or, type Predicate } from '@slipway/runtime';

import { names, operations } from '../names.ts';
import type { ReadonlyComponent } from './component-resource.ts';
import type { ComponentType } from './component-type.ts';
import { reconciliationType } from './conditions.ts';

const operationOf = (annotations: Readonly<Record<string, string>> | undefined): string | undefined =>
  annotations?.[names.operationAnnotation];

/** The operation annotation became `reconcile`. */
export const gotReconcileOperation: Predicate = (event) =>
  operationOf(event.meta.annotations) === operations.reconcile &&
  operationOf(event.oldMeta?.annotations) !== operations.reconcile;

/** The operation annotation is no longer `ignore`. */
export const lostIgnoreOperation: Predicate = (event) =>
  operationOf(event.oldMeta?.annotations) === operations.ignore &&
  operationOf(event.meta.annotations) !== operations.ignore;

export const isIgnored: Predicate = (event) => operationOf(event.meta.annotations) === operations.ignore;

/** The operation annotation became `ignore`, or is that no longer. */
export const ignoreOperationChanged: Predicate = (event) =>
  (operationOf(event.meta.annotations) === operations.ignore) !==
  (operationOf(event.oldMeta?.annotations) === operations.ignore);

/** The status changed, or the object came or went. */
export const statusChanged: Predicate = (event: CacheEvent<KubeObject>) =>
  event.type !== 'updated' || !jsonEqual(event.object['status'], event.old?.['status']);

/** Somebody let it go. That somebody began to hold it is no news: nobody has to do anything about it. */
export const lostFinalizer: Predicate = ({ type, meta, oldMeta }) =>
  type !== 'updated' || !oldMeta || (oldMeta.finalizers ?? []).some((held) => !meta.finalizers?.includes(held));

/** A component failed, and had not before. */
export const startedToFail: Predicate = (event: CacheEvent<KubeObject>) =>
  isFailing(event.object) && !(event.old && isFailing(event.old));

function isFailing(object: DeepReadonly<KubeObject>): boolean {
  const { kind, status } = object as ReadonlyComponent;
  const { conditions = [] } = status ?? {};
  return conditions.some((each) => each.type === reconciliationType(kind as ComponentType) && each.status === 'False');
}

/**
 * What a component's controller reacts to on its own resource: its spec, its labels, a request to reconcile or to go, and nothing while it
 * is ignored. Finalizers that are taken off belong to it because they say who may go next; whoever waits for them hears of it at once.
 */
export const defaultComponentControllerPredicates: readonly Predicate[] = [
  or(generationChanged, labelsChanged, gotReconcileOperation, lostIgnoreOperation, lostFinalizer),
  not(isIgnored),
];
