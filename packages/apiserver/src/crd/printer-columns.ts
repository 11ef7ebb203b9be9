import { isBigInteger, numberOf } from '../big-integer.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import type { TableColumn } from '../resource.ts';
import { ageOf } from '../kinds/ages.ts';
import { asNumber, asObject, asObjects, asText } from '../kinds/json-access.ts';
import { compileJsonPath, type JsonPath } from './json-path.ts';

const nameDescription =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
const ageDescription =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

/** How a custom resource is shown in tables. */
export interface Printer {
  readonly columns: readonly TableColumn[];
  cells(object: ApiObject, now: number): Json[];
}

/** The printer of one CRD version: its columns, or just the age when it declares none. */
export function printerOf(version: JsonObject): Printer {
  const declared = asObjects(version['additionalPrinterColumns']);
  const sources =
    declared.length > 0
      ? declared
      : [{ name: 'Age', type: 'date', description: ageDescription, jsonPath: '.metadata.creationTimestamp' }];
  const columns: TableColumn[] = [
    { name: 'Name', type: 'string', format: 'name', description: nameDescription, priority: 0 },
  ];
  const readers: ((object: ApiObject, now: number) => Json)[] = [];
  for (const column of sources as JsonObject[]) {
    const type = asText(column['type']);
    const path = asText(column['jsonPath']);
    const read = cellReader(path, type);
    // A path nobody understands is no reason to refuse a CRD: its tables end before that column.
    if (!read) break;
    readers.push(read);
    columns.push({
      name: asText(column['name']),
      type,
      format: asText(column['format']),
      description: asText(column['description']) || `Custom resource definition column (in JSONPath format): ${path}`,
      priority: asNumber(column['priority']) ?? 0,
    });
  }
  return {
    columns,
    cells: (object, now) => [object.metadata.name ?? '', ...readers.map((read) => read(object, now))],
  };
}

function cellReader(path: string, type: string): ((object: ApiObject, now: number) => Json) | undefined {
  let compiled: JsonPath;
  try {
    compiled = compileJsonPath(path);
  } catch {
    return undefined;
  }
  return (object, now) => {
    let value: Json | undefined;
    try {
      [value] = compiled.find(object);
    } catch {
      return null;
    }
    return value === undefined ? null : cell(value, type, now);
  };
}

function cell(value: Json, type: string, now: number): Json {
  if (type === 'string') return printed(value);
  if (value === null) return null;
  switch (type) {
    case 'integer':
      return isBigInteger(value) ? value : typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return numberOf(value) ?? null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      if (typeof value !== 'string') return null;
      const age = ageOf(value, now);
      return age === '<unknown>' ? '<invalid>' : age;
    }
    default:
      return null;
  }
}

function printed(value: Json): Json {
  if (value === null) return '<no value>';
  return typeof value === 'object' ? JSON.stringify(inOrder(value)) : String(value);
}

/** Go prints maps sorted. */
function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  const object = asObject(value);
  if (!object) return value;
  return Object.fromEntries(
    Object.keys(object)
      .toSorted()
      .map((key) => [key, inOrder(object[key]!)]),
  );
}
