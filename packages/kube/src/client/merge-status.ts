import { setCondition, type ConditionInput } from '../conditions.ts';
import { createMergePatch } from '../merge-patch.ts';
import type { DeepReadonly, KubeObject } from '../object.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What the schema of a kind says about its status. */
export interface StatusShape {
  observedGeneration: boolean;
  conditionGeneration: boolean;
}

/** The merge patch that brings an object's stored status to what `fields` ask for; `undefined` when it is there already. */
export function statusPatch(
  object: DeepReadonly<KubeObject>,
  fields: Fields,
  shape: StatusShape,
  nowMs: number,
): Fields | undefined {
  const stored = (object['status'] ?? {}) as Fields;
  const wanted: Record<string, unknown> = { ...stored };
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) delete wanted[name];
    else if (name === 'conditions' && Array.isArray(value))
      wanted[name] = mergeConditions(object, stored[name], value as ConditionInput[], shape, nowMs);
    else wanted[name] = value;
  }
  const { generation } = object.metadata;
  if (generation !== undefined && fields['observedGeneration'] === undefined && shape.observedGeneration)
    wanted['observedGeneration'] = generation;
  const patch = createMergePatch(stored, wanted);
  return patch === undefined ? undefined : (patch as Fields);
}

function mergeConditions(
  object: DeepReadonly<KubeObject>,
  stored: unknown,
  given: readonly ConditionInput[],
  shape: StatusShape,
  nowMs: number,
): readonly ConditionInput[] {
  let conditions = (stored ?? []) as readonly ConditionInput[];
  for (const condition of given) {
    const { generation } = object.metadata;
    const stamped =
      shape.conditionGeneration && generation !== undefined && condition.observedGeneration === undefined
        ? { ...condition, observedGeneration: generation }
        : condition;
    conditions = setCondition(conditions, stamped, nowMs);
  }
  return conditions;
}
