import type { FieldError } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';

/** Evaluates the rules of a schema on an object. */
export function ruleErrors(_object: ApiObject, _previous: ApiObject | undefined, _schema: Schema): FieldError[] {
  return [];
}
