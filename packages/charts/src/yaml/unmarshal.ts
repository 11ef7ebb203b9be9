import { isMap, type GoMap, type Value } from '../go/values.ts';
import { jsonKind } from './json-kind.ts';
import { readYaml, YamlError } from './read.ts';

/** Reads YAML into a map, as `sigs.k8s.io/yaml` unmarshals it; what does not fit is refused in its words. Nothing is null. */
export function readYamlMap(text: string): GoMap | null {
  return mapOf(readJsonable(text), decoding);
}

export function readYamlList(text: string): Value[] | null {
  return listOf(readJsonable(text), decoding);
}

const decoding = 'error unmarshaling JSON: while decoding JSON: json';

function readJsonable(text: string): Value {
  try {
    return readYaml(text);
  } catch (error) {
    throw new YamlError(`error converting YAML to JSON: ${(error as Error).message}`);
  }
}

/** `decoder` is who complains. */
export function mapOf(value: Value, decoder: string): GoMap | null {
  if (value === null || value === undefined) return null;
  if (isMap(value)) return value;
  throw new YamlError(`${decoder}: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`);
}

export function listOf(value: Value, decoder: string): Value[] | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value;
  throw new YamlError(`${decoder}: cannot unmarshal ${jsonKind(value)} into Go value of type []interface {}`);
}
