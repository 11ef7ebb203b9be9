import { deepEqual, kindOf, typeOf, type Value } from '../go/values.ts';
import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { fn } from '../template/signature.ts';

/** `%T` */
function typeName(value: Value): string {
  return value === undefined ? '<nil>' : typeOf(value);
}

export const reflectionFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['typeOf', fn(['any'], typeName)],
  ['typeIs', fn(['string', 'any'], (type, value) => typeName(value) === type)],
  ['typeIsLike', fn(['string', 'any'], (type, value) => typeName(value) === type || typeName(value) === `*${type}`)],
  ['kindOf', fn(['any'], kindOf)],
  ['kindIs', fn(['string', 'any'], (kind, value) => kindOf(value) === kind)],
  ['deepEqual', fn(['any', 'any'], deepEqual)],
]);
