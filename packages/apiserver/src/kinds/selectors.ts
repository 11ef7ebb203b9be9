import type { FieldError } from '../api-error.ts';
import { forbiddenField, invalidValue, required } from './field-errors.ts';
import { asList, asObject, asObjects, asText } from './json-access.ts';
import { validateLabels } from './metadata.ts';
import { labelValue, qualifiedName } from './names.ts';

/** A `metav1.LabelSelector` in the text form of query parameters and tables: `app=web,tier in (a,b),!old`. */
export function selectorText(selector: unknown): string {
  const object = asObject(selector) ?? {};
  const parts = Object.entries(asObject(object['matchLabels']) ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${asText(value)}`,
  }));
  for (const requirement of asObjects(object['matchExpressions'])) {
    const key = asText(requirement['key']);
    const values = asList(requirement['values']).map(asText).toSorted().join(',');
    switch (requirement['operator']) {
      case 'In':
        parts.push({ key, text: `${key} in (${values})` });
        break;
      case 'NotIn':
        parts.push({ key, text: `${key} notin (${values})` });
        break;
      case 'Exists':
        parts.push({ key, text: key });
        break;
      default:
        parts.push({ key, text: `!${key}` });
    }
  }
  return parts
    .toSorted((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0))
    .map((part) => part.text)
    .join(',');
}

/** A plain label map as text, sorted by key. */
export function labelsText(labels: unknown): string {
  return Object.entries(asObject(labels) ?? {})
    .map(([key, value]) => `${key}=${asText(value)}`)
    .toSorted()
    .join(',');
}

/** Whether a `metav1.LabelSelector` selects these labels. An absent selector selects nothing, an empty one everything. */
export function selectorMatches(selector: unknown, labels: Readonly<Record<string, unknown>>): boolean {
  const object = asObject(selector);
  if (!object) return false;
  for (const [key, value] of Object.entries(asObject(object['matchLabels']) ?? {})) {
    if (labels[key] !== value) return false;
  }
  return asObjects(object['matchExpressions']).every((requirement) => {
    const value = labels[asText(requirement['key'])];
    const values = asList(requirement['values']);
    switch (requirement['operator']) {
      case 'In':
        return typeof value === 'string' && values.includes(value);
      case 'NotIn':
        return typeof value !== 'string' || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return false;
    }
  });
}

export function isEmptySelector(selector: unknown): boolean {
  const object = asObject(selector) ?? {};
  return (
    Object.keys(asObject(object['matchLabels']) ?? {}).length === 0 && asList(object['matchExpressions']).length === 0
  );
}

export function validateSelector(selector: unknown, field: string): FieldError[] {
  const object = asObject(selector);
  if (!object) return [];
  const errors = validateLabels(object['matchLabels'], `${field}.matchLabels`);
  for (const [index, requirement] of asObjects(object['matchExpressions']).entries()) {
    const at = `${field}.matchExpressions[${index}]`;
    const values = asList(requirement['values']);
    switch (requirement['operator']) {
      case 'In':
      case 'NotIn':
        if (values.length === 0) {
          errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
        }
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0) {
          errors.push(
            forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
          );
        }
        break;
      default:
        errors.push(invalidValue(`${at}.operator`, asText(requirement['operator']), 'not a valid selector operator'));
    }
    for (const text of qualifiedName(asText(requirement['key']))) {
      errors.push(invalidValue(`${at}.key`, asText(requirement['key']), text));
    }
    for (const [position, value] of values.entries()) {
      for (const text of labelValue(asText(value))) errors.push(invalidValue(`${at}.values[${position}]`, value, text));
    }
  }
  return errors;
}
