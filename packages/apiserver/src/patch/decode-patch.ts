import { isJsonObject } from '../big-integer.ts';
import { goKind } from '../schema/go-types.ts';
import { badRequest } from '../api-error.ts';
import type { Json, JsonObject } from '../object.ts';
import { JsonSyntaxError, parseJson } from '../schema/json-text.ts';
import { YamlSyntaxError, parseYaml } from '../schema/yaml-text.ts';
import { type JsonPatchOperation, jsonPatchOperations } from './json-patch.ts';

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const jsonPatchFields = new Set(['op', 'path', 'from', 'value']);

/** Reads the body of a JSON patch. `strictErrors` are Go's texts about repeated and unknown fields. */
export function decodeJsonPatch(bytes: Uint8Array): { operations: JsonPatchOperation[]; strictErrors: string[] } {
  const { value, duplicateFields } = readJson(bytes, 'error decoding patch: ');
  const operations = jsonPatchOperations(value);
  const strictErrors = duplicateFields.map((path) => `json patch duplicate field "${path}"`);
  for (const [index, item] of ((value ?? []) as JsonObject[]).entries()) {
    for (const key of Object.keys(item)) {
      if (!jsonPatchFields.has(key)) strictErrors.push(`json patch unknown field "[${index}].${key}"`);
    }
  }
  return { operations, strictErrors };
}

/** Reads the body of a merge or strategic merge patch. */
export function decodeMergePatch(
  bytes: Uint8Array,
  type: 'merge' | 'strategic',
): { patch: JsonObject; strictErrors: string[] } {
  const prefix = type === 'merge' ? 'error decoding patch: ' : '';
  const { value, duplicateFields } = readJson(bytes, prefix);
  return {
    patch: requireMap(value, prefix),
    strictErrors: duplicateFields.map((path) => `duplicate field "${path}"`),
  };
}

/** Reads the configuration of a server-side apply: YAML, hence JSON too. */
export function decodeApplyPatch(bytes: Uint8Array): { config: JsonObject; strictErrors: string[] } {
  try {
    const { value, strictErrors } = parseYaml(utf8.decode(bytes));
    return {
      config: requireMap(value, 'error decoding YAML: error unmarshaling JSON: while decoding JSON: '),
      strictErrors: strictErrors.map((text) => `error converting YAML to JSON: ${text}`),
    };
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}

function readJson(bytes: Uint8Array, prefix: string): { value: Json; duplicateFields: string[] } {
  try {
    return parseJson(utf8.decode(bytes));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`${prefix}${error.message}`);
  }
}

function requireMap(value: Json, prefix: string): JsonObject {
  if (value === null) return {};
  if (isJsonObject(value)) return value;
  const kind = goKind(value);
  throw badRequest(`${prefix}json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`);
}
