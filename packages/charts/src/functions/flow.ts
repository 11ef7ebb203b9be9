import { GoObject, isTrue, type Value } from '../go/values.ts';
import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { fn, variadic } from '../template/signature.ts';

/** sprig's empty: the zero of its type. A struct never is. */
export function isEmpty(value: Value): boolean {
  return value instanceof GoObject && value.goKind === 'struct' ? false : !isTrue(value);
}

export const flowFunctions: FunctionTable = new Map<string, TemplateFunction>([
  [
    'default',
    variadic(['any'], 'any', (fallback, ...given) => (given.length === 0 || isEmpty(given[0]) ? fallback : given[0])),
  ],
  ['empty', fn(['any'], isEmpty)],
  ['coalesce', variadic([], 'any', (...values) => values.find((value) => !isEmpty(value)) ?? null)],
  ['all', variadic([], 'any', (...values) => values.every((value) => !isEmpty(value)))],
  ['any', variadic([], 'any', (...values) => values.some((value) => !isEmpty(value)))],
  ['ternary', fn(['any', 'any', 'bool'], (yes, no, condition) => (condition ? yes : no))],
]);
