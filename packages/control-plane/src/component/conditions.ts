import { kubeTime } from '@slipway/kube';

import type { ComponentCondition, ReadonlyComponent } from './component-resource.ts';

/**
 * Builds the next list of conditions. The time of a condition moves only when its status does; conditions nobody states are dropped; the
 * list is in the order of the types.
 */
export class ConditionUpdater {
  readonly #old: ReadonlyMap<string, ComponentCondition>;
  readonly #next = new Map<string, ComponentCondition>();
  readonly #nowMs: number;

  constructor(old: NonNullable<ReadonlyComponent['status']>['conditions'], nowMs: number) {
    this.#old = new Map((old ?? []).map((condition) => [condition.type, condition as ComponentCondition]));
    this.#nowMs = nowMs;
  }

  update({ type, status, reason, message }: ComponentCondition): this {
    const old = this.#old.get(type);
    const lastTransitionTime =
      old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : kubeTime(this.#nowMs);
    const next: ComponentCondition = { type, status, lastTransitionTime };
    if (reason) next.reason = reason;
    if (message) next.message = message;
    this.#next.set(type, next);
    return this;
  }

  has(type: string): boolean {
    return this.#next.has(type);
  }

  conditions(): ComponentCondition[] {
    return [...this.#next.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
  }
}

export function healthyType(type: string): string {
  return `${type}Healthy`;
}

export function reconciliationType(type: string): string {
  return `${type}Reconciliation`;
}
