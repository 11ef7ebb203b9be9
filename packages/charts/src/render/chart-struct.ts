import { Struct } from '../go/struct.ts';
import { GoObject, isMap, isTrue, nilIfEmpty, typed, type GoMap, type Value } from '../go/values.ts';

/** `.Chart` as Helm 3 has it: a struct, whose unknown fields are errors and whose fields encoders write by their names in Chart.yaml. */
export class ChartStruct extends GoObject {
  override readonly goType = 'struct { chart.Metadata; IsRoot bool }';
  readonly #fields: Struct;
  readonly #map: GoMap;

  constructor(map: GoMap) {
    super();
    this.#map = map;
    this.#fields = new Struct(this.goType, {
      ...Object.fromEntries(map),
      Sources: list(map.get('Sources'), '[]string'),
      Keywords: list(map.get('Keywords'), '[]string'),
      Maintainers: list(structs(map.get('Maintainers'), 'chart.Maintainer'), '[]*chart.Maintainer'),
      Dependencies: list(structs(map.get('Dependencies'), 'chart.Dependency'), '[]*chart.Dependency'),
    });
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

/** A maintainer or a dependency. */
class MetadataItem extends Struct {
  readonly #map: GoMap;

  constructor(type: string, map: GoMap) {
    super(`*${type}`, Object.fromEntries(map));
    this.#map = map;
  }

  override plain(): Value {
    return written(this.#map);
  }
}

function structs(items: Value, type: string): Value {
  return Array.isArray(items) ? items.map((item) => (isMap(item) ? new MetadataItem(type, item) : item)) : items;
}

/** A list of this type; what is not written is one that was never made. */
function list(items: Value, type: string): Value {
  return Array.isArray(items) ? nilIfEmpty(typed([...items], type)) : items;
}

/** Without what is empty, as Helm's encoder leaves it out. */
function written(map: GoMap): GoMap {
  const result: GoMap = new Map();
  for (const [name, value] of map) {
    // Go's encoder writes name and repository of a dependency even when there are none.
    if (!isTrue(value) && !(map.has('Alias') && (name === 'Name' || name === 'Repository'))) continue;
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
