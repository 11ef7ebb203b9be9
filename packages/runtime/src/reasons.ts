import { condition, type Condition } from '@slipway/kube';

import type { ReasonExplanation } from './operator.ts';

/** What a reason means and what a person does about it; empty when there is nothing to do. */
export interface ReasonRow {
  readonly meaning: string;
  readonly action: string;
}

type ReasonTable = Readonly<Record<string, Readonly<Record<string, ReasonRow>>>>;

/** The reasons a kind may give. */
export type ReasonOf<T extends ReasonTable, K extends keyof T = keyof T> = keyof T[K] & string;

/** A condition whose reason is one of the kind's. */
export type ConditionWith<Reason extends string> = Omit<Condition, 'reason'> & { reason: Reason };

export interface Reasons<T extends ReasonTable> {
  /** The rows as they were given: what else they say is the operator's own matter. */
  readonly rows: T;
  /** For the description of the operator. */
  readonly explanations: readonly ReasonExplanation[];
  /** Whether the kind may give this reason; what others or earlier versions wrote may be unknown. */
  isReason<K extends keyof T>(kind: K, text: string | undefined): text is ReasonOf<T, K>;
  /** Makes conditions of a kind. A reason that nobody has explained does not compile. */
  conditionOf<K extends keyof T>(
    kind: K,
  ): (
    type: string,
    status: boolean | 'Unknown',
    reason: ReasonOf<T, K>,
    message?: string,
  ) => ConditionWith<ReasonOf<T, K>>;
}

/**
 * The reasons of an operator's conditions, by kind: one record from which come the explanations of `slipway explain` and the
 * types that conditions are made with.
 *
 * @example
 * const reasons = defineReasons({ Boat: { Afloat: { meaning: 'It floats.', action: '' } } });
 * const condition = reasons.conditionOf('Boat');
 * condition('Ready', true, 'Afloat').reason; // => 'Afloat'
 */
export function defineReasons<const T extends ReasonTable>(rows: T): Reasons<T> {
  return {
    rows,
    explanations: Object.entries(rows).flatMap(([kind, ofKind]) =>
      Object.entries(ofKind).map(([reason, { meaning, action }]) => ({ kind, reason, meaning, action })),
    ),
    isReason: <K extends keyof T>(kind: K, text: string | undefined): text is ReasonOf<T, K> =>
      text !== undefined && Object.hasOwn(rows[kind] ?? {}, text),
    conditionOf:
      <K extends keyof T>(_kind: K) =>
      (type: string, status: boolean | 'Unknown', reason: ReasonOf<T, K>, message?: string) =>
        condition(type, status, reason, message) as ConditionWith<ReasonOf<T, K>>,
  };
}
