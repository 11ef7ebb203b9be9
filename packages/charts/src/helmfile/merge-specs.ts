import { isMap, isTrue, type Value } from '../go/values.ts';
import { mergeInto } from '../functions/dicts.ts';
import type { Spec } from './decode.ts';
import type { Field, Fields } from './state-schema.ts';

/**
 * Lays the keys of one state over those of another. Changes only the outer map of the target: what is inside may be shared.
 * Texts, flags and numbers that say something replace; groups merge key
 * by key; entries of maps replace whole; lists are replaced between the parts of a file and joined between bases.
 */
export function mergeSpecs(target: Spec, source: Spec, fields: Fields, lists: 'replace' | 'append'): void {
  for (const [key, value] of source) {
    const merged = mergeField(target.get(key), value, fields[key]!, lists);
    if (merged !== undefined) target.set(key, merged);
  }
}

function mergeField(present: Value, value: Value, field: Field, lists: 'replace' | 'append'): Value {
  if (Array.isArray(value)) {
    if (lists === 'append' && Array.isArray(present)) return [...present, ...value];
    return value.length > 0 ? value : present;
  }
  if (isMap(value)) {
    if (!isMap(present)) return value;
    if (field.type === 'named') return new Map([...present, ...value]);
    const merged = new Map(present);
    if (field.type === 'struct') mergeSpecs(merged, value, field.fields!, lists);
    else mergeInto(merged, value, true);
    return merged;
  }
  return isTrue(value) || present === undefined ? value : present;
}

/** Environments of bases are joined: the values of the later one come after those of the earlier. */
export function mergeEnvironmentSpecs(target: Spec, source: Spec): void {
  for (const [name, spec] of source as Map<string, Spec>) {
    const present = target.get(name) as Spec | undefined;
    if (!present) {
      target.set(name, spec);
      continue;
    }
    const values = [...((present.get('values') as Value[]) ?? []), ...((spec.get('values') as Value[]) ?? [])];
    target.set(name, new Map<string, Value>([...present, ...spec, ['values', values]]));
  }
}
