import { equalJson } from '../equal-json.ts';
import type { FieldError } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import type { ScalePaths, Strategy } from '../resource.ts';
import type { Schema } from '../schema/schema.ts';
import { strategyWith } from '../kinds/default-strategy.ts';
import { invalidValue } from '../kinds/field-errors.ts';
import { dnsSubdomain, qualifiedName } from '../kinds/names.ts';
import { applySchemaDefaults } from './defaulting.ts';
import { embeddedErrors } from './embedded-resources.ts';
import { pathKeys, valueAtPath } from './field-path.ts';
import type { Printer } from './printer-columns.ts';
import { isRuled, ruleErrors } from './rules.ts';
import { scaleErrors } from './scale-errors.ts';
import { blocksRules, notCheckedError, schemaErrors } from './validate-object.ts';
import { listErrors } from './validate-lists.ts';

export interface CustomStrategyOptions {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: () => Schema;
  /** What the CRD says about `metadata`, such as a pattern for the name. */
  readonly metadataRestrictions?: Schema;
  readonly printer: Printer;
  readonly statusSubresource: boolean;
  readonly scale?: ScalePaths;
  /** Simple paths, such as `.spec.color`. */
  readonly selectableFields: readonly string[];
}

const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** How the objects of one CRD version behave. */
export function customStrategy(options: CustomStrategyOptions): Strategy {
  const { kind, statusSubresource, scale } = options;
  const apiVersion = `${options.group}/${options.version}`;
  const typeErrors = (object: ApiObject): FieldError[] => [
    ...(object.kind === kind ? [] : [invalidValue('kind', object.kind ?? '', `must be ${kind}`)]),
    ...(object.apiVersion === apiVersion
      ? []
      : [invalidValue('apiVersion', object.apiVersion ?? '', `must be ${apiVersion}`)]),
  ];

  const check = (object: ApiObject, previous: ApiObject | undefined, statusOnly = false): FieldError[] => {
    const wrongType = typeErrors(object);
    if (wrongType.length > 0) return wrongType;
    const schema = options.schema();
    const restrictions = statusOnly ? undefined : options.metadataRestrictions;
    const errors = [
      ...(restrictions ? schemaErrors(object.metadata, restrictions, previous?.metadata, 'metadata') : []),
      ...schemaErrors(object, schema, previous).map(statusOnly ? belowStatus : asTheyAre),
      ...(scale ? scaleErrors(object, scale, statusOnly) : []),
      ...embeddedErrors(object, schema),
    ];
    if (!previous || listErrors(previous, schema).length === 0) {
      for (const error of listErrors(object, schema)) errors.push(error);
    }
    if (blocksRules(errors)) return isRuled(schema) ? [...errors, notCheckedError] : errors;
    return [...errors, ...ruleErrors(object, previous, schema)];
  };

  return strategyWith({
    unconditionalUpdate: false,
    hasGeneration: true,
    statusField: statusSubresource,
    generationChanged: (next, previous) => !sameContent(next, previous, statusSubresource),
    applyDefaults: (object) => applySchemaDefaults(object, options.schema()),
    prepareForCreate: (object) => {
      if (statusSubresource) delete object['status'];
    },
    prepareForUpdate: (object, previous) => {
      if (!statusSubresource) return;
      if (previous['status'] === undefined) delete object['status'];
      else object['status'] = previous['status'];
    },
    prepareForStatusUpdate: (object, previous) => {
      for (const field of Object.keys(object)) {
        if (field !== 'status' && field !== 'metadata' && field !== 'apiVersion' && field !== 'kind')
          delete object[field];
      }
      for (const [field, value] of Object.entries(previous)) {
        if (field !== 'status' && field !== 'metadata') object[field] = value;
      }
      const { managedFields, resourceVersion } = object.metadata;
      const { managedFields: _managed, resourceVersion: _version, ...kept } = previous.metadata;
      object.metadata = {
        ...kept,
        ...(managedFields ? { managedFields } : {}),
        ...(resourceVersion ? { resourceVersion } : {}),
      };
    },
    validate: (object) => check(object, undefined),
    validateUpdate: (object, previous) => check(object, previous),
    validateStatusUpdate: (object, previous) => check(object, previous, true),
    validateName: dnsSubdomain,
    selectableFields: Object.fromEntries(
      options.selectableFields.map((path) => [
        pathKeys(path).join('.'),
        (object: ApiObject) => {
          const value = valueAtPath(object, path);
          return value == null ? '' : String(value);
        },
      ]),
    ),
    warnings: (object, previous) => finalizerWarnings(object, previous),
    cells: (object, now) => options.printer.cells(object, now),
  });
}

function sameContent(next: ApiObject, previous: ApiObject, ignoreStatus: boolean): boolean {
  const ignored = new Set(['metadata', 'apiVersion', 'kind', ...(ignoreStatus ? ['status'] : [])]);
  const content = (object: ApiObject) =>
    Object.fromEntries(Object.entries(object).filter(([field]) => !ignored.has(field)));
  return equalJson(content(next), content(previous));
}

/** Built-in kinds refuse such finalizers; custom resources are only warned about. */
function finalizerWarnings(object: ApiObject, previous: ApiObject | undefined): string[] {
  const known = new Set(previous?.metadata.finalizers);
  const added = [...new Set((object.metadata.finalizers ?? []).filter((name) => !known.has(name)))].toSorted();
  return added.flatMap((name) => {
    const head = `metadata.finalizers: ${JSON.stringify(name)}: `;
    const warnings = qualifiedName(name).map((text) => head + text);
    if (!name.includes('/') && !standardFinalizers.has(name)) {
      const path = name.includes('.') ? ' including a path (/)' : '';
      warnings.push(
        `${head}prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
      );
    }
    return warnings;
  });
}

const asTheyAre = (error: FieldError): FieldError => error;

/** A write to the status is checked from there: texts name the field without it, the path keeps it. */
function belowStatus(error: FieldError): FieldError {
  return {
    ...error,
    detail: error.detail.replace(`${error.field} in body`, `${error.field.replace(/^status\./, '')} in body`),
  };
}
