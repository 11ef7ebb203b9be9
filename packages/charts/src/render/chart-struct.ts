import { Struct } from '../go/struct.ts';
import { GoObject, isMap, isTrue, type GoMap, type Value } from '../go/values.ts';

/** `.Chart` as Helm 3 has it: a struct, whose unknown fields are errors and whose fields encoders write by their names in Chart.yaml. */
export class ChartStruct extends GoObject {
  override readonly goType = 'struct { chart.Metadata; IsRoot bool }';
  readonly #fields: Struct;
  readonly #map: GoMap;

  constructor(map: GoMap) {
    super();
    this.#map = map;
    const lists: Record<string, Value> = {
      Maintainers: structs(map.get('Maintainers'), 'chart.Maintainer'),
      Dependencies: structs(map.get('Dependencies'), 'chart.Dependency'),
    };
    this.#fields = new Struct(this.goType, { ...Object.fromEntries(map), ...lists });
  }

  override field(name: string): Value | undefined {
    return this.#fields.field(name);
  }

  override text(): string {
    return this.#fields.text();
  }

  override plain(): Value {
    const { IsRoot, ...metadata } = Object.fromEntries(this.#map);
    return new Map([...written(new Map(Object.entries(metadata))), ['IsRoot', IsRoot]]);
  }
}

function structs(list: Value, type: string): Value {
  return Array.isArray(list)
    ? list.map((item) => (isMap(item) ? new Struct(`*${type}`, Object.fromEntries(item), jsonName) : item))
    : list;
}

/** Without what is empty, as Helm's encoder leaves it out. */
function written(map: GoMap): GoMap {
  const result: GoMap = new Map();
  for (const [name, value] of map) {
    if (!isTrue(value)) continue;
    result.set(
      jsonName(name),
      Array.isArray(value) ? value.map((item) => (isMap(item) ? written(item) : item)) : value,
    );
  }
  return result;
}

/** `APIVersion` is `apiVersion` in Chart.yaml, `URL` is `url`. */
function jsonName(name: string): string {
  if (name === 'APIVersion') return 'apiVersion';
  if (name === 'ImportValues') return 'import-values';
  return name === 'URL' ? 'url' : name[0]!.toLowerCase() + name.slice(1);
}
