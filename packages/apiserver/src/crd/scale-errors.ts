import type { FieldError } from '../api-error.ts';
import { invalidValue } from '../kinds/field-errors.ts';
import { asObject } from '../kinds/json-access.ts';
import type { ApiObject } from '../object.ts';
import type { ScalePaths } from '../resource.ts';
import { pathKeys } from './field-path.ts';

const largestReplicas = 2 ** 31 - 1;

/** What is wrong with the places `/scale` reads. With `statusOnly` the wanted replicas are left alone. */
export function scaleErrors(object: ApiObject, paths: ScalePaths, statusOnly = false): FieldError[] {
  return [
    ...(statusOnly ? [] : replicasErrors(object, paths.specReplicasPath)),
    ...replicasErrors(object, paths.statusReplicasPath),
    ...(paths.labelSelectorPath ? selectorErrors(object, paths.labelSelectorPath) : []),
  ];
}

function replicasErrors(object: ApiObject, path: string): FieldError[] {
  const found = nested(object, path, 'int64', (value) => typeof value === 'number' && Number.isInteger(value));
  if (found.error) return [invalidValue(path, 0, found.error)];
  const replicas = (found.value as number | undefined) ?? 0;
  if (replicas < 0) return [invalidValue(path, replicas, 'should be a non-negative integer')];
  if (replicas > largestReplicas) {
    return [invalidValue(path, replicas, `should be less than or equal to ${largestReplicas}`)];
  }
  return [];
}

function selectorErrors(object: ApiObject, path: string): FieldError[] {
  const found = nested(object, path, 'string', (value) => typeof value === 'string');
  return found.error ? [invalidValue(path, '', found.error)] : [];
}

function nested(
  object: ApiObject,
  path: string,
  wanted: string,
  fits: (value: unknown) => boolean,
): { value?: unknown; error?: string } {
  const keys = pathKeys(path);
  let current: unknown = object;
  for (const [index, key] of keys.entries()) {
    const holder = asObject(current);
    if (!holder) {
      const at = `.${keys.slice(0, index + 1).join('.')}`;
      return {
        error: `${at} accessor error: ${goText(current)} is of the type ${goType(current)}, expected map[string]interface{}`,
      };
    }
    if (holder[key] === undefined) return {};
    current = holder[key];
  }
  if (fits(current)) return { value: current };
  return {
    error: `.${keys.join('.')} accessor error: ${goText(current)} is of the type ${goType(current)}, expected ${wanted}`,
  };
}

function goType(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return 'map[string]interface {}';
  }
}

function goText(value: unknown): string {
  if (value === null) return '<nil>';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
