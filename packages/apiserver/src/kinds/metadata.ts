import type { FieldError } from '../api-error.ts';
import type { ApiObject, OwnerReference } from '../object.ts';
import type { Resource } from '../resource.ts';
import { forbiddenField, immutableText, invalidValue, printValue, required, tooLong } from './field-errors.ts';
import { asList, asObject, asText } from './json-access.ts';
import { dnsLabel, labelValue, qualifiedName } from './names.ts';

const annotationLimitBytes = 256 * 1024;
const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** What is wrong with the metadata of a new object. */
export function validateMetadata(object: ApiObject, resource: Resource): FieldError[] {
  const { metadata } = object;
  const errors: FieldError[] = [];
  if (metadata.generateName) {
    // The generated suffix makes up for a trailing dash or dot, so the prefix is checked with one letter in its place.
    for (const text of resource.strategy.validateName(maskTrailingDash(metadata.generateName))) {
      errors.push(invalidValue('metadata.generateName', metadata.generateName, text));
    }
  }
  if (metadata.name) {
    for (const text of resource.strategy.validateName(metadata.name)) {
      errors.push(invalidValue('metadata.name', metadata.name, text));
    }
  } else {
    errors.push(required('metadata.name', 'name or generateName is required'));
  }
  if (resource.namespaced) {
    if (!metadata.namespace) errors.push(required('metadata.namespace'));
    else {
      for (const text of dnsLabel(metadata.namespace)) {
        errors.push(invalidValue('metadata.namespace', metadata.namespace, text));
      }
    }
  } else if (metadata.namespace) {
    errors.push(forbiddenField('metadata.namespace', 'not allowed on this type'));
  }
  return [
    ...errors,
    ...validateLabels(metadata.labels, 'metadata.labels'),
    ...validateAnnotations(metadata.annotations, 'metadata.annotations'),
    ...validateOwnerReferences(metadata.ownerReferences),
    ...validateFinalizers(metadata.finalizers),
    ...(resource.custom ? [] : unknownFinalizers(metadata.finalizers)),
  ];
}

/** What is wrong with the metadata of a changed object; custom resources may keep unqualified finalizers. */
export function validateMetadataUpdate(next: ApiObject, previous: ApiObject, custom = false): FieldError[] {
  const errors: FieldError[] = [];
  if (previous.metadata.deletionTimestamp) {
    const known = new Set(previous.metadata.finalizers);
    const added = [...new Set((next.metadata.finalizers ?? []).filter((name) => !known.has(name)))].toSorted();
    if (added.length > 0) {
      const listed = added.map((name) => printValue(name)).join(', ');
      errors.push(
        forbiddenField(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${listed}}`,
        ),
      );
    }
  }
  for (const field of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ]) {
    if ((next.metadata[field] ?? '') !== (previous.metadata[field] ?? '')) {
      errors.push(invalidValue(`metadata.${field}`, next.metadata[field], immutableText));
    }
  }
  return [
    ...errors,
    ...validateLabels(next.metadata.labels, 'metadata.labels'),
    ...validateAnnotations(next.metadata.annotations, 'metadata.annotations'),
    ...validateOwnerReferences(next.metadata.ownerReferences),
    ...(custom ? [] : unknownFinalizers(next.metadata.finalizers)),
  ];
}

/** Labels wherever they occur: metadata, templates, selectors. */
export function validateLabels(labels: unknown, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(asObject(labels) ?? {})) {
    for (const text of qualifiedName(key)) errors.push(invalidValue(field, key, text));
    for (const text of labelValue(asText(value))) errors.push(invalidValue(field, value, text));
  }
  return errors;
}

export function validateAnnotations(annotations: unknown, field: string): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(asObject(annotations) ?? {})) {
    for (const text of qualifiedName(key.toLowerCase())) errors.push(invalidValue(field, key, text));
    size += Buffer.byteLength(key) + Buffer.byteLength(asText(value));
  }
  if (size > annotationLimitBytes) errors.push(tooLong(field, annotationLimitBytes));
  return errors;
}

function validateOwnerReferences(references: OwnerReference[] | undefined): FieldError[] {
  const field = 'metadata.ownerReferences';
  const errors: FieldError[] = [];
  let firstController: string | undefined;
  for (const reference of asList(references)) {
    const owner = asObject(reference) ?? {};
    const apiVersion = asText(owner['apiVersion']);
    if (!apiVersion) errors.push(invalidValue(`${field}.apiVersion`, '', 'version must not be empty'));
    else if (apiVersion.split('/').length > 2 || apiVersion.endsWith('/')) {
      errors.push(invalidValue(`${field}.apiVersion`, apiVersion, 'must be <group>/<version> or <version>'));
    }
    for (const key of ['kind', 'name', 'uid']) {
      if (!owner[key]) errors.push(invalidValue(`${field}.${key}`, '', 'must not be empty'));
    }
    if (apiVersion === 'v1' && owner['kind'] === 'Event') {
      errors.push(invalidValue(field, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner['controller'] !== true) continue;
    const controller = `${asText(owner['kind'])}/${asText(owner['name'])}`;
    if (firstController === undefined) firstController = controller;
    else {
      errors.push(
        invalidValue(
          field,
          references,
          `Only one reference can have Controller set to true. Found "true" in references for ${firstController} and ${controller}`,
        ),
      );
    }
  }
  return errors;
}

function validateFinalizers(finalizers: string[] | undefined): FieldError[] {
  const field = 'metadata.finalizers';
  const errors: FieldError[] = [];
  for (const name of finalizers ?? []) {
    for (const text of qualifiedName(name)) errors.push(invalidValue(field, name, text));
  }
  if (finalizers?.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalidValue(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

function unknownFinalizers(finalizers: string[] | undefined): FieldError[] {
  return (finalizers ?? []).flatMap((name, index) =>
    name.includes('/') || standardFinalizers.has(name)
      ? []
      : [
          invalidValue(
            `metadata.finalizers[${index}]`,
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );
}

function maskTrailingDash(prefix: string): string {
  return prefix.endsWith('-') ? `${prefix.slice(0, -1)}a` : prefix;
}
