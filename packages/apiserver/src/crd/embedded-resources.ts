import type { FieldError } from '../api-error.ts';
import { invalidValue, required } from '../kinds/field-errors.ts';
import { asObject, asText } from '../kinds/json-access.ts';
import { validateAnnotations, validateLabels } from '../kinds/metadata.ts';
import { dns1035, dnsLabel, pathSegment } from '../kinds/names.ts';
import type { ApiObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';

/** Checks the heads of whole objects that are kept inside a custom resource. */
export function embeddedErrors(object: ApiObject, schema: Schema): FieldError[] {
  const errors: FieldError[] = [];
  visit(object, schema, '', errors);
  return errors;
}

function visit(value: unknown, schema: Schema, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    if (schema.items)
      for (const [index, item] of value.entries()) visit(item, schema.items, `${path}[${index}]`, errors);
    return;
  }
  const object = asObject(value);
  if (!object) return;
  if (schema.embeddedResource) errors.push(...headErrors(object, path));
  for (const [name, member] of Object.entries(object)) {
    if (schema.properties && Object.hasOwn(schema.properties, name)) {
      visit(member, schema.properties[name]!, path ? `${path}.${name}` : name, errors);
    } else if (typeof schema.additionalProperties === 'object') {
      visit(member, schema.additionalProperties, `${path}[${name}]`, errors);
    }
  }
}

function headErrors(object: Record<string, unknown>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const apiVersion = asText(object['apiVersion']);
  const kind = asText(object['kind']);
  if (object['apiVersion'] === undefined) errors.push(required(`${path}.apiVersion`));
  else if (!apiVersion) errors.push(invalidValue(`${path}.apiVersion`, apiVersion, 'must not be empty'));
  else if (apiVersion.split('/').length > 2) {
    errors.push(invalidValue(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  }
  if (object['kind'] === undefined) errors.push(required(`${path}.kind`));
  else if (!kind) errors.push(invalidValue(`${path}.kind`, kind, 'must not be empty'));
  else {
    const texts = dns1035(kind.toLowerCase());
    if (texts.length > 0) {
      errors.push(
        invalidValue(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${texts.join(',')}`),
      );
    }
  }
  const metadata = asObject(object['metadata']);
  if (!metadata) return errors;
  const name = asText(metadata['name']);
  if (name) for (const text of pathSegment(name)) errors.push(invalidValue(`${path}.metadata.name`, name, text));
  const namespace = asText(metadata['namespace']);
  if (namespace) {
    for (const text of dnsLabel(namespace)) errors.push(invalidValue(`${path}.metadata.namespace`, namespace, text));
  }
  return [
    ...errors,
    ...validateLabels(metadata['labels'], `${path}.metadata.labels`),
    ...validateAnnotations(metadata['annotations'], `${path}.metadata.annotations`),
  ];
}
