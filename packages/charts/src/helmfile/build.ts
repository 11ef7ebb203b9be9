import { isMap, isTrue, type GoMap, type Value } from '../go/values.ts';
import { naturalOrder } from '../yaml/key-order.ts';
import { writeYaml } from '../yaml/write.ts';
import type { Spec } from './decode.ts';
import type { HelmfileRelease } from './release.ts';
import { stateFields, type Field, type Fields } from './state-schema.ts';
import type { State } from './state.ts';

/** A state with everything evaluated, as `helmfile build` prints it: keys in helmfile's order, then `renderedvalues`. */
export function buildText(state: State, releases: readonly HelmfileRelease[]): string {
  const spec: Spec = new Map(state.spec);
  spec.set(
    'releases',
    releases.map((release) => release.spec),
  );
  const document: GoMap = new Map<string, Value>([
    ['filepath', state.file],
    ['helmBinary', 'helm'],
    ['kustomizeBinary', 'kustomize'],
    ...ordered(spec, stateFields),
    ['renderedvalues', sorted(state.values)],
  ]);
  return `---\n#  Source: ${state.file}\n\n${writeYaml(document, { dialect: 'v3', keepOrder: true })}`;
}

function ordered(spec: Spec, fields: Fields): GoMap {
  const result: GoMap = new Map();
  for (const [key, field] of Object.entries(fields)) {
    const value = spec.get(key);
    if (value !== undefined && !isEmpty(value, field)) result.set(key, orderedField(value, field));
    else if (field.otherwise !== undefined) result.set(key, otherwise(field.otherwise));
  }
  return result;
}

/** What helmfile leaves out: texts and containers without content. A flag that is false was set to it. */
function isEmpty(value: Value, field: Field): boolean {
  if (field.type === 'struct') return Object.entries(field.fields!).every(([key, each]) => isZero(value, key, each));
  if (field.omitted) return !isTrue(value);
  return value === '' || (Array.isArray(value) && value.length === 0) || (isMap(value) && value.size === 0);
}

/** A group whose keys all say what they would without being there is left out. */
function isZero(group: Value, key: string, field: Field): boolean {
  const value = (group as Spec).get(key);
  if (value === undefined || isEmpty(value, field)) return true;
  return field.otherwise !== undefined && !isTrue(value);
}

function orderedField(value: Value, field: Field): Value {
  if (field.type === 'struct') return ordered(value as Spec, field.fields!);
  if (field.type === 'structs') return (value as Spec[]).map((item) => ordered(item, field.fields!));
  if (field.type === 'named') {
    const map = value as Map<string, Spec>;
    return new Map(naturalOrder(map.keys()).map((key) => [key, ordered(map.get(key)!, field.fields!)]));
  }
  return sorted(value);
}

function otherwise(kind: NonNullable<Field['otherwise']> | false): Value {
  if (kind === 'empty list') return [];
  if (kind === 'empty mapping') return new Map();
  return kind === 0 ? 0n : kind;
}

/** Maps that are no structs keep go-yaml's order. */
function sorted(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  return new Map(naturalOrder(value.keys()).map((key) => [key, sorted(value.get(key))]));
}
