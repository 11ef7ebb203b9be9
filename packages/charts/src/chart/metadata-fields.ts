import { isMap, sortedKeys, type GoMap, type Value } from '../go/values.ts';
import { jsonKind } from '../yaml/json-kind.ts';
import { wantedText } from '../yaml/wanted-text.ts';
import { ChartError } from './chart-error.ts';

/** What a field holds, by Go's name for it. */
type FieldType = 'string' | 'bool' | 'time' | '[]string' | 'map[string]string' | '[]interface {}' | Struct;

/** A mapping with fields of its own; in a list where a field holds it. */
interface Struct {
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldType>>;
}

const dependency: Struct = {
  name: 'Dependency',
  fields: {
    name: 'string',
    version: 'string',
    repository: 'string',
    condition: 'string',
    tags: '[]string',
    enabled: 'bool',
    'import-values': '[]interface {}',
    alias: 'string',
  },
};

const maintainer: Struct = { name: 'Maintainer', fields: { name: 'string', email: 'string', url: 'string' } };

const metadata: Struct = {
  name: 'Metadata',
  fields: {
    name: 'string',
    home: 'string',
    sources: '[]string',
    version: 'string',
    description: 'string',
    keywords: '[]string',
    maintainers: maintainer,
    icon: 'string',
    apiVersion: 'string',
    condition: 'string',
    tags: 'string',
    appVersion: 'string',
    deprecated: 'bool',
    annotations: 'map[string]string',
    kubeVersion: 'string',
    dependencies: dependency,
    type: 'string',
  },
};

const lock: Struct = { name: 'Lock', fields: { generated: 'time', digest: 'string', dependencies: dependency } };

/**
 * The fields of Chart.yaml or requirements.yaml, with texts for whatever stands where a text is wanted. A field counts however it is
 * capitalised. Wrong types are refused as Helm's decoder refuses them.
 */
export function metadataFields(document: Value, file: string): GoMap {
  return decode(document, metadata, file);
}

/** The same for Chart.lock or requirements.lock. */
export function lockFields(document: Value, file: string): GoMap {
  return decode(document, lock, file);
}

/** The first field of Chart.yaml that Helm does not know, in the order in which it reads them. */
export function unknownField(document: GoMap): string | undefined {
  return unknownIn(document, metadata);
}

function unknownIn(map: GoMap, { fields }: Struct): string | undefined {
  for (const key of sortedKeys(map)) {
    const type = fieldNamed(fields, key)?.[1];
    if (type === undefined) return key;
    const items = map.get(key);
    if (typeof type === 'string' || !Array.isArray(items)) continue;
    for (const item of items) {
      const below = isMap(item) ? unknownIn(item, type) : undefined;
      if (below !== undefined) return below;
    }
  }
  return undefined;
}

function fieldNamed(fields: Struct['fields'], key: string): readonly [string, FieldType] | undefined {
  if (Object.hasOwn(fields, key)) return [key, fields[key]!];
  const folded = key.toLowerCase();
  return Object.entries(fields).find(([name]) => name.toLowerCase() === folded);
}

function decode(document: Value, struct: Struct, file: string): GoMap {
  const refuse = (why: string): never => {
    const message = `cannot load ${file}: error unmarshaling JSON: while decoding JSON: ${why}`;
    throw new ChartError('InvalidChart', message);
  };
  const wrong = (value: Value, place: string, type: string) =>
    refuse(`json: cannot unmarshal ${jsonKind(value)} into Go ${place} of type ${type}`);
  const textIn = (value: Value, place: string): string => wantedText(value) ?? wrong(value, place, 'string');

  const listOf = (type: Struct | '[]string' | '[]interface {}', value: Value, path: string, place: string): Value[] => {
    if (!Array.isArray(value)) return wrong(value, place, typeof type === 'string' ? type : `[]*v2.${type.name}`);
    if (type === '[]interface {}') return value;
    if (type === '[]string') return value.map((item) => textIn(item, place));
    return value.map((item) => {
      if (item === null) return null;
      return isMap(item) ? structOf(item, type, path) : wrong(item, place, `v2.${type.name}`);
    });
  };
  const fieldOf = (type: FieldType, value: Value, path: string, place: string): Value => {
    switch (type) {
      case 'string':
        return textIn(value, place);
      case 'bool':
        return typeof value === 'boolean' ? value : wrong(value, place, type);
      case 'time':
        return timeOf(value, refuse);
      case 'map[string]string':
        if (!isMap(value)) return wrong(value, place, type);
        return new Map([...value].map(([key, item]) => [key, textIn(item, place)]));
      default:
        return listOf(type, value, path, place);
    }
  };
  const structOf = (map: GoMap, { name, fields }: Struct, above: string): GoMap => {
    const read: GoMap = new Map();
    // Of one that is written in several ways, the last in order counts.
    for (const key of sortedKeys(map)) {
      const [field, type] = fieldNamed(fields, key) ?? [];
      if (field === undefined || type === undefined) continue;
      const value = map.get(key);
      const path = `${above}${field}`;
      if (value !== null) read.set(field, fieldOf(type, value, `${path}.`, `struct field ${name}.${path}`));
      // It empties a list, and does nothing to a text.
      else if (typeof type !== 'string' || type.includes('[')) read.set(field, null);
    }
    return read;
  };

  if (document === null) return new Map();
  if (!isMap(document))
    return refuse(`json: cannot unmarshal ${jsonKind(document)} into Go value of type v2.${struct.name}`);
  return structOf(document, struct, '');
}

const layout = '2006-01-02T15:04:05Z07:00';

function timeOf(value: Value, refuse: (why: string) => never): string {
  if (typeof value !== 'string') return refuse('Time.UnmarshalJSON: input is not a JSON string');
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value) || Number.isNaN(Date.parse(value)))
    return refuse(`parsing time ${JSON.stringify(value)} as "${layout}": it is no such time`);
  return value;
}
