import { isBigInteger } from '../big-integer.ts';
import type { Schema } from './schema.ts';

const definitions = {
  time: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
  microTime: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
  duration: 'io.k8s.apimachinery.pkg.apis.meta.v1.Duration',
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
};

/** Go types with a text form of their own. */
export type SpecialType = keyof typeof definitions;

const byDefinition = new Map<string, SpecialType>(
  Object.entries(definitions).map(([type, definition]) => [definition, type as SpecialType]),
);

export function specialType(schema: Schema): SpecialType | undefined {
  return schema.definition === undefined ? undefined : byDefinition.get(schema.definition);
}

/** `io.k8s.api.core.v1.Container` → `Container`. */
export function structName(definition: string): string {
  return definition.slice(definition.lastIndexOf('.') + 1);
}

/** Go's name of the type a schema stands for: `int32`, `[]v1.Container`, `map[string]string`. */
export function goTypeName(schema: Schema): string {
  if (schema.type === 'array') {
    if (schema.goType !== undefined && !isScalar(schema.items)) return schema.goType;
    return `[]${schema.goType ?? (schema.items ? goTypeName(schema.items) : 'interface {}')}`;
  }
  if (schema.definition !== undefined) {
    const segments = schema.definition.split('.');
    return segments.slice(-2).join('.');
  }
  if (schema.goType !== undefined) return schema.goType;
  if (schema.type === 'object') {
    const values = schema.additionalProperties;
    return typeof values === 'object' ? `map[string]${goTypeName(values)}` : 'map[string]interface {}';
  }
  if (schema.type === 'integer') return schema.format ?? 'int32';
  if (schema.type === 'number') return schema.format === 'float' ? 'float32' : 'float64';
  if (schema.type === 'boolean') return 'bool';
  if (schema.format === 'byte') return '[]uint8';
  return 'string';
}

function isScalar(schema: Schema | undefined): boolean {
  return schema !== undefined && schema.type !== 'object' && schema.type !== 'array';
}

/** What Go's JSON decoder calls a value. */
export function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isBigInteger(value)) return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
