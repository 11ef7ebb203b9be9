import { Type, type TSchema, type TUnsafe } from 'typebox';

import type { ValidationRule } from './cluster-types.ts';
import type { Condition, IntOrString as IntOrStringValue, LabelSelector as LabelSelectorValue } from './meta-types.ts';

/** Keywords a schema may carry besides TypeBox's own. */
export interface SchemaNotes {
  description?: string;
  default?: unknown;
  nullable?: boolean;
  /** CEL rules on this field. */
  'x-kubernetes-validations'?: ValidationRule[];
}

export type IntOrString = IntOrStringValue;

/** A number, or text such as `25%` or the name of a port. */
export function IntOrString(notes: SchemaNotes = {}): TUnsafe<IntOrStringValue> {
  return Type.Unsafe<IntOrStringValue>({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
    ...notes,
  });
}

/** A resource amount such as `500m` or `1Gi`. */
export function QuantityText(notes: SchemaNotes = {}): TUnsafe<IntOrStringValue> {
  return Type.Unsafe<IntOrStringValue>({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern: String.raw`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`,
    'x-kubernetes-int-or-string': true,
    ...notes,
  });
}

/** A point in time, RFC 3339. */
export function Time(notes: SchemaNotes = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'date-time', ...notes });
}

/** A Go-style duration such as `1h30m`; see `parseDuration`. */
export function DurationText(notes: SchemaNotes = {}): TUnsafe<string> {
  return Type.Unsafe<string>({
    type: 'string',
    pattern: String.raw`^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*)$`,
    ...notes,
  });
}

/** Anything below this field is kept as it is: for values of a chart, raw configuration and the like. */
export function AnyFields<T = Record<string, unknown>>(notes: SchemaNotes = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...notes });
}

/** Any JSON value: an object, a list, a number, text. */
export function AnyValue(notes: SchemaNotes = {}): TUnsafe<unknown> {
  return Type.Unsafe<unknown>({ 'x-kubernetes-preserve-unknown-fields': true, ...notes });
}

/** A list that server-side apply treats as a map: items are told apart by `keys`. */
export function ListMap<T extends TSchema>(item: T, keys: readonly string[], notes: ListNotes = {}) {
  return Type.Array(item, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys], ...notes });
}

/** A list without duplicates that several writers may share. */
export function ListSet<T extends TSchema>(item: T, notes: ListNotes = {}) {
  return Type.Array(item, { 'x-kubernetes-list-type': 'set', ...notes });
}

export interface ListNotes extends SchemaNotes {
  minItems?: number;
  maxItems?: number;
}

/** A value that may also be `null`. */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A `metav1.LabelSelector`. */
export const LabelSelectorSchema: TUnsafe<LabelSelectorValue> = Type.Unsafe<LabelSelectorValue>({
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: {
    matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
    matchExpressions: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { type: 'string' },
          operator: { type: 'string' },
          values: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'string' } },
        },
      },
    },
  },
});

/** The standard condition, with the limits the API conventions give it. */
export const ConditionSchema: TUnsafe<Condition> = Type.Unsafe<Condition>({
  type: 'object',
  description: 'One aspect of the state of this object.',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: {
      type: 'string',
      description: 'What the condition is about, in CamelCase.',
      maxLength: 316,
      pattern: String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
    },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      description: 'The metadata.generation this condition was computed from.',
    },
    lastTransitionTime: {
      type: 'string',
      format: 'date-time',
      description: 'When the status last went from one value to another.',
    },
    reason: {
      type: 'string',
      description: 'A CamelCase word for programs.',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    },
    message: { type: 'string', description: 'A sentence for people.', maxLength: 32768 },
  },
});

/** `status.conditions`: one entry per type. */
export const Conditions = Type.Array(ConditionSchema, {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
});
