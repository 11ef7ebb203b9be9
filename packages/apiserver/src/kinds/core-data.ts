import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { explainJsonError } from '../schema/json-text.ts';
import { ageOf } from './ages.ts';
import { strategyWith } from './default-strategy.ts';
import { forbiddenField, immutableText, invalidValue, required, tooLong } from './field-errors.ts';
import { asObject, asText, defaultText, sameValue } from './json-access.ts';
import { configMapKey } from './names.ts';

const dataLimitBytes = 1024 * 1024;

function countData(object: ApiObject): number {
  return Object.keys(asObject(object['data']) ?? {}).length + Object.keys(asObject(object['binaryData']) ?? {}).length;
}

function validateConfigMap(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const data = asObject(object['data']) ?? {};
  const binary = asObject(object['binaryData']) ?? {};
  let size = 0;
  for (const [key, value] of Object.entries(data)) {
    for (const text of configMapKey(key)) errors.push(invalidValue(`data[${key}]`, key, text));
    if (Object.hasOwn(binary, key)) {
      errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    size += Buffer.byteLength(asText(value));
  }
  for (const [key, value] of Object.entries(binary)) {
    for (const text of configMapKey(key)) errors.push(invalidValue(`binaryData[${key}]`, key, text));
    size += Buffer.from(asText(value), 'base64').length;
  }
  if (size > dataLimitBytes) errors.push(tooLong('[]', dataLimitBytes));
  return errors;
}

function immutableErrors(object: ApiObject, previous: ApiObject, fields: readonly string[]): FieldError[] {
  if (previous['immutable'] !== true) return [];
  const text = 'field is immutable when `immutable` is set';
  const errors = object['immutable'] === true ? [] : [forbiddenField('immutable', text)];
  for (const field of fields) {
    if (!sameValue(object[field], previous[field])) errors.push(forbiddenField(field, text));
  }
  return errors;
}

export const configMapStrategy: Strategy = strategyWith({
  validate: validateConfigMap,
  validateUpdate: (object, previous) => [
    ...immutableErrors(object, previous, ['data', 'binaryData']),
    ...validateConfigMap(object),
  ],
  cells: (object, now) => [
    object.metadata.name ?? '',
    countData(object),
    ageOf(object.metadata.creationTimestamp, now),
  ],
});

/** `stringData` is write-only: it lands in `data`, where it wins. */
function mergeStringData(object: ApiObject): void {
  const texts = asObject(object['stringData']);
  delete object['stringData'];
  if (texts && Object.keys(texts).length > 0) {
    const data: JsonObject = { ...asObject(object['data']) };
    for (const [key, value] of Object.entries(texts)) data[key] = Buffer.from(asText(value)).toString('base64');
    object['data'] = data;
  }
  defaultText(object as unknown as JsonObject, 'type', 'Opaque');
}

const secretValue = '<secret contents redacted>';

function validateSecret(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const data = asObject(object['data']) ?? {};
  let size = 0;
  for (const [key, value] of Object.entries(data)) {
    for (const text of configMapKey(key)) errors.push(invalidValue(`data[${key}]`, key, text));
    size += Buffer.from(asText(value), 'base64').length;
  }
  if (size > dataLimitBytes) errors.push(tooLong('data', dataLimitBytes));
  const need = (key: string): void => {
    if (!Object.hasOwn(data, key)) errors.push(required(`data[${key}]`));
  };
  const needJson = (key: string): void => {
    need(key);
    if (!Object.hasOwn(data, key)) return;
    const problem = jsonProblem(Buffer.from(asText(data[key]), 'base64').toString());
    if (problem) errors.push(invalidValue(`data[${key}]`, secretValue, problem));
  };
  switch (object['type']) {
    case 'kubernetes.io/service-account-token':
      if (!object.metadata.annotations?.['kubernetes.io/service-account.name']) {
        errors.push(required('metadata.annotations[kubernetes.io/service-account.name]'));
      }
      break;
    case 'kubernetes.io/dockercfg':
      needJson('.dockercfg');
      break;
    case 'kubernetes.io/dockerconfigjson':
      needJson('.dockerconfigjson');
      break;
    case 'kubernetes.io/basic-auth':
      if (!Object.hasOwn(data, 'username') && !Object.hasOwn(data, 'password')) {
        need('username');
        need('password');
      }
      break;
    case 'kubernetes.io/ssh-auth':
      if (!asText(data['ssh-privatekey'])) errors.push(required('data[ssh-privatekey]'));
      break;
    case 'kubernetes.io/tls':
      need('tls.crt');
      need('tls.key');
      break;
    default:
  }
  return errors;
}

/** Go's words for what is no JSON object; never the text itself. */
function jsonProblem(text: string): string | undefined {
  const problem = explainJsonError(text);
  if (problem) return problem;
  return asObject(JSON.parse(text))
    ? undefined
    : 'json: cannot unmarshal value into Go value of type map[string]interface {}';
}

export const secretStrategy: Strategy = strategyWith({
  applyDefaults: mergeStringData,
  prepareForUpdate: (object, previous) => {
    if (!object['type'] && previous['type']) object['type'] = previous['type'];
  },
  validate: validateSecret,
  validateUpdate: (object, previous) => [
    ...(object['type'] === previous['type'] ? [] : [invalidValue('type', object['type'], immutableText)]),
    ...immutableErrors(object, previous, ['data']),
    ...validateSecret(object),
  ],
  selectableFields: { type: (object) => asText(object['type']) },
  cells: (object, now) => [
    object.metadata.name ?? '',
    asText(object['type']),
    Object.keys(asObject(object['data']) ?? {}).length,
    ageOf(object.metadata.creationTimestamp, now),
  ],
});
