import { jsonEqual } from './equality.ts';
import { isRecord } from './json.ts';
import { ownField, setField } from './own-field.ts';

/** The RFC 7386 merge patch that turns `from` into `to`; `undefined` when they are equal. A field that goes becomes `null`. */
export function createMergePatch(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(from))
    if (from[key] !== undefined && ownField(to, key) === undefined) setField(patch, key, null);
  for (const key of Object.keys(to)) {
    const before = ownField(from, key);
    const after = to[key];
    if (after === undefined || jsonEqual(before, after)) continue;
    if (isRecord(before) && isRecord(after)) setField(patch, key, createMergePatch(before, after) ?? {});
    else setField(patch, key, after);
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** `target` with an RFC 7386 merge patch applied, as a new value. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else setField(result, key, applyMergePatch(ownField(result, key), value));
  }
  return result;
}
