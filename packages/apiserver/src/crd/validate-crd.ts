import type { FieldError } from '../api-error.ts';
import {
  duplicate,
  forbiddenField,
  immutableText,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../kinds/field-errors.ts';
import { asList, asObject, asObjects, asText, dig, sameValue } from '../kinds/json-access.ts';
import { dns1035, dnsSubdomain } from '../kinds/names.ts';
import { clientConfigErrors } from '../kinds/registration-kinds.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import { openApiSchemaErrors, schemaAtPath } from './schema-errors.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const selectableLimit = 8;

/** What is wrong with a new or changed CRD. */
export function validateCrd(crd: ApiObject, previous?: ApiObject): FieldError[] {
  const spec = asObject(crd['spec']) ?? {};
  const names = asObject(spec['names']) ?? {};
  const errors: FieldError[] = [];
  if (!previous && crd.metadata.name && crd.metadata.name !== `${asText(names['plural'])}.${asText(spec['group'])}`) {
    errors.push(invalidValue('metadata.name', crd.metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  errors.push(...specErrors(spec, names));
  if (previous) errors.push(...changeErrors(spec, asObject(previous['spec']) ?? {}, isEstablished(previous)));
  errors.push(...storedVersionErrors(crd, spec), ...approvalErrors(crd, spec, previous));
  if (spec['preserveUnknownFields'] === true && dig(previous, 'spec', 'preserveUnknownFields') !== true) {
    errors.push(
      invalidValue(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    );
  }
  return errors;
}

export function isEstablished(crd: ApiObject): boolean {
  return asObjects(dig(crd, 'status', 'conditions')).some(
    (condition) => condition['type'] === 'Established' && condition['status'] === 'True',
  );
}

function changeErrors(spec: JsonObject, before: JsonObject, established: boolean): FieldError[] {
  const fixed = established
    ? [['scope'], ['names', 'kind'], ['group'], ['names', 'plural']]
    : [['group'], ['names', 'plural']];
  return fixed.flatMap((path) => {
    const value = dig(spec, ...path);
    return sameValue(value, dig(before, ...path)) ? [] : [invalidValue(`spec.${path.join('.')}`, value, immutableText)];
  });
}

function storedVersionErrors(crd: ApiObject, spec: JsonObject): FieldError[] {
  const field = 'status.storedVersions';
  const stored = asList(dig(crd, 'status', 'storedVersions')).map(asText);
  if (stored.length === 0) return [invalidValue(field, null, 'must have at least one stored version')];
  // Each stands for one version only: the second of a name finds none.
  const left = new Set(stored);
  const errors: FieldError[] = [];
  for (const version of asObjects(spec['versions'])) {
    const name = asText(version['name']);
    if (!left.delete(name) && version['storage'] === true)
      errors.push(invalidValue(field, stored, `must have the storage version ${name}`));
  }
  for (const [index, name] of stored.entries()) {
    if (!left.has(name)) continue;
    errors.push(
      invalidValue(
        `${field}[${index}]`,
        name,
        `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
      ),
    );
  }
  return errors;
}

const approvalAnnotation = 'api-approved.kubernetes.io';

function approvalErrors(crd: ApiObject, spec: JsonObject, previous: ApiObject | undefined): FieldError[] {
  const group = asText(spec['group']);
  const isProtected = ['k8s.io', 'kubernetes.io'].some((owner) => group === owner || group.endsWith(`.${owner}`));
  const value = crd.metadata.annotations?.[approvalAnnotation];
  if (!isProtected || (previous && previous.metadata.annotations?.[approvalAnnotation] === value)) return [];
  const field = `metadata.annotations[${approvalAnnotation}]`;
  if (!value) {
    return [
      required(
        field,
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ),
    ];
  }
  if (value.startsWith('unapproved') || URL.canParse(value)) return [];
  return [
    invalidValue(
      field,
      value,
      'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
    ),
  ];
}

function specErrors(spec: JsonObject, names: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const group = asText(spec['group']);
  if (!group) errors.push(required('spec.group'));
  else if (dnsSubdomain(group).length > 0)
    errors.push(invalidValue('spec.group', group, dnsSubdomain(group).join(',')));
  else if (!group.includes('.'))
    errors.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  const scope = asText(spec['scope']);
  if (!scope) errors.push(required('spec.scope'));
  else if (scope !== 'Cluster' && scope !== 'Namespaced')
    errors.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  const versions = asObjects(spec['versions']);
  const shared = sharedParts(versions);
  for (const [index, version] of versions.entries()) {
    if (!asObject(dig(version, 'schema', 'openAPIV3Schema'))) {
      errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
    }
  }
  for (const [index, version] of versions.entries()) {
    const name = asText(version['name']);
    const at = `spec.versions[${index}]`;
    if (dns1035(name).length > 0) errors.push(invalidValue(`${at}.name`, name, dns1035(name).join(',')));
    errors.push(...deprecationErrors(version, at), ...versionErrors(version, at, shared));
  }
  const printed = versions.map(printedVersion);
  if (new Set(versions.map((version) => version['name'])).size < versions.length) {
    errors.push(invalidValue('spec.versions', printed, 'must contain unique version names'));
  }
  if (versions.filter((version) => version['storage'] === true).length !== 1) {
    errors.push(invalidValue('spec.versions', printed, 'must have exactly one version marked as storage version'));
  }
  // The first version is the one of the whole, too.
  const whole = asText(versions[0]?.['name']);
  if (whole && dns1035(whole).length > 0) errors.push(invalidValue('spec.version', whole, dns1035(whole).join(',')));
  for (const key of ['plural', 'singular', 'kind', 'listKind']) {
    if (!asText(names[key])) errors.push(required(`spec.names.${key}`));
  }
  errors.push(...nameErrors(names, 'spec.names'));
  // Parts that all versions share are one part of the whole, and are reported there.
  const first = versions[0];
  if (first) errors.push(...sharedErrors(first, shared, versions));
  return [...errors, ...conversionErrors(asObject(spec['conversion']))];
}

type Part = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields';
const parts: readonly Part[] = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'];

function sharedParts(versions: readonly JsonObject[]): ReadonlySet<Part> {
  return new Set(parts.filter((part) => versions.every((version) => sameValue(version[part], versions[0]?.[part]))));
}

function versionErrors(version: JsonObject, at: string, shared: ReadonlySet<Part>): FieldError[] {
  const errors: FieldError[] = [];
  const schema = asObject(dig(version, 'schema', 'openAPIV3Schema'));
  const hasStatus = asObject(version['subresources'])?.['status'] != null;
  if (!shared.has('schema') && schema) errors.push(...schemaErrorsAt(schema, `${at}.schema`, hasStatus));
  if (!shared.has('subresources')) errors.push(...subresourceErrors(version, `${at}.subresources`));
  if (!shared.has('additionalPrinterColumns')) errors.push(...columnErrors(version, at));
  if (!shared.has('selectableFields')) errors.push(...selectableErrors(version, schema, `${at}.selectableFields`));
  return errors;
}

function sharedErrors(version: JsonObject, shared: ReadonlySet<Part>, versions: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const schema = asObject(dig(version, 'schema', 'openAPIV3Schema'));
  const hasStatus = versions.some((each) => asObject(each['subresources'])?.['status'] != null);
  if (shared.has('schema') && schema) errors.push(...schemaErrorsAt(schema, 'spec.validation', hasStatus));
  if (shared.has('subresources')) errors.push(...subresourceErrors(version, 'spec.subresources'));
  if (shared.has('additionalPrinterColumns')) errors.push(...columnErrors(version, 'spec'));
  if (shared.has('selectableFields')) errors.push(...selectableErrors(version, schema, 'spec.selectableFields'));
  return errors;
}

const rootKeywords = new Set([
  'description',
  'type',
  'format',
  'title',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'required',
  'items',
  'properties',
  'externalDocs',
  'example',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]);

function schemaErrorsAt(schema: JsonObject, path: string, hasStatus: boolean): FieldError[] {
  const at = `${path}.openAPIV3Schema`;
  const errors: FieldError[] = [];
  if (hasStatus) {
    const type = asText(schema['type']);
    if (type && type !== 'object') {
      errors.push(
        invalidValue(
          `${at}.type`,
          type,
          'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
        ),
      );
    } else if (Object.keys(schema).some((keyword) => !rootKeywords.has(keyword) && keyword !== 'nullable')) {
      errors.push(
        invalidValue(
          at,
          schema,
          'only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
        ),
      );
    }
  }
  if (schema['nullable'] === true) errors.push(forbiddenField(`${at}.nullable`, 'nullable cannot be true at the root'));
  return [...errors, ...openApiSchemaErrors(schema, at)];
}

function deprecationErrors(version: JsonObject, at: string): FieldError[] {
  const warning = version['deprecationWarning'];
  if (typeof warning !== 'string') return [];
  const problems: string[] = [];
  if (version['deprecated'] !== true) problems.push('can only be set for deprecated versions');
  else {
    if (warning.length > 256) problems.push('must be <= 256 characters long');
    if (warning === '') problems.push('must not be an empty string');
  }
  return problems.map((text) => invalidValue(`${at}.deprecationWarning`, warning, text));
}

function simplePathErrors(path: string, field: string): FieldError[] {
  return path.startsWith('.') ? [] : [invalidValue(field, path, 'must be a simple json path starting with .')];
}

function subresourceErrors(version: JsonObject, at: string): FieldError[] {
  const scale = asObject(asObject(version['subresources'])?.['scale']);
  if (!scale) return [];
  const errors: FieldError[] = [];
  for (const [key, root] of [
    ['specReplicasPath', '.spec'],
    ['statusReplicasPath', '.status'],
  ] as const) {
    const path = asText(scale[key]);
    const field = `${at}.scale.${key}`;
    if (!path) errors.push(required(field));
    else if (!path.startsWith('.')) errors.push(...simplePathErrors(path, field));
    else if (!path.startsWith(`${root}.`))
      errors.push(invalidValue(field, path, `should be a json path under ${root}`));
  }
  const selector = asText(scale['labelSelectorPath']);
  if (selector && !/^\.(?:spec|status)\./.test(selector)) {
    errors.push(
      invalidValue(`${at}.scale.labelSelectorPath`, selector, 'should be a json path under either .spec or .status'),
    );
  }
  return errors;
}

function columnErrors(version: JsonObject, parent: string): FieldError[] {
  return asObjects(version['additionalPrinterColumns']).flatMap((column, index) => {
    const at = `${parent}.additionalPrinterColumns[${index}]`;
    const errors: FieldError[] = [];
    const type = asText(column['type']);
    const format = asText(column['format']);
    const path = asText(column['jsonPath']);
    const typeText = `must be one of ${columnTypes.join(',')}`;
    if (!asText(column['name'])) errors.push(required(`${at}.name`));
    if (!type) errors.push(required(`${at}.type`, typeText));
    else if (!columnTypes.includes(type)) errors.push(invalidValue(`${at}.type`, type, typeText));
    if (format && !columnFormats.includes(format)) {
      errors.push(invalidValue(`${at}.format`, format, `must be one of ${columnFormats.join(',')}`));
    }
    if (!path) errors.push(required(`${at}.JSONPath`));
    else if (!path.startsWith('.')) errors.push(...simplePathErrors(path, `${at}.JSONPath`));
    return errors;
  });
}

function selectableErrors(version: JsonObject, schema: JsonObject | undefined, at: string): FieldError[] {
  const fields = asObjects(version['selectableFields']);
  const seen = new Set<string>();
  const errors = fields.flatMap((entry, index) => {
    const field = `${at}[${index}].jsonPath`;
    const path = asText(entry['jsonPath']);
    if (!path) return [required(field)];
    const found = schema && schemaAtPath(schema, path);
    const problems: FieldError[] = [];
    if (path.startsWith('.metadata')) problems.push(invalidValue(field, path, 'must not point to fields in metadata'));
    else if (!found) {
      problems.push(invalidValue(field, path, 'is an invalid path: does not refer to a valid field'));
    } else if (!['string', 'boolean', 'integer'].includes(asText(found['type']))) {
      problems.push(
        invalidValue(
          field,
          path,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      );
    }
    if (seen.has(path)) problems.push(duplicate(field, path));
    seen.add(path);
    return problems;
  });
  if (seen.size > selectableLimit) errors.push(tooMany(at, seen.size, selectableLimit));
  return errors;
}

function nameErrors(names: JsonObject, at: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of ['plural', 'singular']) {
    const value = asText(names[key]);
    if (value && dns1035(value).length > 0) errors.push(invalidValue(`${at}.${key}`, value, dns1035(value).join(',')));
  }
  for (const key of ['kind', 'listKind']) {
    const value = asText(names[key]);
    const texts = dns1035(value.toLowerCase());
    if (value && texts.length > 0) {
      errors.push(
        invalidValue(`${at}.${key}`, value, `may have mixed case, but should otherwise match: ${texts.join(',')}`),
      );
    }
  }
  for (const key of ['shortNames', 'categories']) {
    for (const [index, value] of asList(names[key]).map(asText).entries()) {
      if (dns1035(value).length > 0)
        errors.push(invalidValue(`${at}.${key}[${index}]`, value, dns1035(value).join(',')));
    }
  }
  if (asText(names['kind']) && names['kind'] === names['listKind']) {
    errors.push(invalidValue(`${at}.listKind`, names['listKind'], 'kind and listKind may not be the same'));
  }
  return errors;
}

function conversionErrors(conversion: JsonObject | undefined): FieldError[] {
  if (!conversion) return [];
  const strategy = asText(conversion['strategy']);
  if (!strategy) return [required('spec.conversion.strategy')];
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [notSupported('spec.conversion.strategy', strategy, ['None', 'Webhook'])];
  }
  const webhook = asObject(conversion['webhook']);
  const config = asObject(webhook?.['clientConfig']);
  const versions = asList(webhook?.['conversionReviewVersions']).map(asText);
  if (strategy === 'None') {
    return webhook
      ? [forbiddenField('spec.conversion.webhookClientConfig', 'should not be set when strategy is not set to Webhook')]
      : [];
  }
  const errors = config
    ? clientConfigErrors(config, 'spec.conversion.webhookClientConfig')
    : [required('spec.conversion.webhookClientConfig', 'required when strategy is set to Webhook')];
  if (versions.length === 0) errors.push(required('spec.conversion.conversionReviewVersions'));
  else if (!versions.some((version) => version === 'v1' || version === 'v1beta1')) {
    errors.push(
      invalidValue('spec.conversion.conversionReviewVersions', versions, 'must include at least one of v1, v1beta1'),
    );
  }
  return errors;
}

/** A version as Go prints its structure; what is shared by all versions does not show. */
function printedVersion(version: JsonObject): JsonObject {
  return {
    Name: asText(version['name']),
    Served: version['served'] === true,
    Storage: version['storage'] === true,
    Deprecated: version['deprecated'] === true,
    DeprecationWarning: version['deprecationWarning'] ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}
