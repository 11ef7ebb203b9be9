import { setCondition, type ConditionInput } from '../conditions.ts';
import type { Kind } from '../kind.ts';
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

interface PropertyBag {
  properties?: Record<string, PropertyBag>;
  items?: PropertyBag;
}

/** From its schema where the kind has one, otherwise as far as the stored object shows. */
export function statusShape(kind: Kind, object: DeepReadonly<KubeObject>): StatusShape {
  const schema = (kind as Kind & { definition?: { status?: PropertyBag } }).definition?.status;
  if (schema)
    return {
      observedGeneration: schema.properties?.['observedGeneration'] !== undefined,
      conditionGeneration: schema.properties?.['conditions']?.items?.properties?.['observedGeneration'] !== undefined,
    };
  const stored = object['status'] as
    | { observedGeneration?: number; conditions?: { observedGeneration?: number }[] }
    | undefined;
  return {
    observedGeneration: stored?.observedGeneration !== undefined,
    conditionGeneration: stored?.conditions?.some((c) => c.observedGeneration !== undefined) ?? false,
  };
}
