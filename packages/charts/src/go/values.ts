import { utf8Compare } from './bytes.ts';

/**
 * Go's values in JavaScript. Two nils are kept apart, because templates see the difference: `undefined` is Go's invalid
 * value (nothing at all, such as the result of a pipeline that came to nil), `null` is a nil inside an interface (a missing
 * or null map entry). A field of the first is nothing; a field of the second is an error.
 *
 * `bigint` is Go's `int`, `number` is `float64`; every other integer type is a {@link SizedInt}. Maps are `Map`, because a
 * chart may use `__proto__` or `10` as a key. Strings are bytes in Go: a byte that is no UTF-8 lives as a lone surrogate,
 * see `bytes.ts`.
 */
export type Value =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | SizedInt
  | Uint8Array
  | Value[]
  | GoMap
  | GoObject;

/** A map as Go has it, which templates may change; `fromPlain` makes them. */
export type GoMap = Map<string, Value>;

/** An integer of a type other than `int`. */
export class SizedInt {
  readonly kind: 'int64' | 'int32' | 'uint8' | 'uint64';
  readonly value: bigint;
  /** The name of its type when that is not its kind, such as `time.Month`. */
  readonly type: string;
  /** What it calls itself, such as `January`. */
  readonly text: string | undefined;
  readonly #methods: ((name: string) => GoFunction<never> | undefined) | undefined;

  constructor(
    kind: SizedInt['kind'],
    value: bigint,
    type: string = kind,
    text?: string,
    methods?: (name: string) => GoFunction<never> | undefined,
  ) {
    this.kind = kind;
    this.text = text;
    this.#methods = methods;
    this.value = kind === 'int64' ? BigInt.asIntN(64, value) : value;
    this.type = type;
  }

  method(name: string): GoFunction<never> | undefined {
    if (name === 'String' && this.text !== undefined) return { params: [], call: () => this.text };
    return this.#methods?.(name);
  }
}

export function int64(value: bigint | number): SizedInt {
  return new SizedInt('int64', BigInt(value));
}

/** What a function expects of an argument; `value` takes anything, the invalid value included. */
export type ParamType =
  | 'any'
  | 'value'
  | 'string'
  | 'bool'
  | 'int'
  | 'int64'
  | 'uint32'
  | 'float64'
  | 'map[string]interface {}'
  | '[]interface {}'
  | '[]string'
  | '[]uint8'
  | `struct ${string}`;

/** A function a template can call. `rest` is the type of the arguments after the fixed ones, when it takes any number. */
export interface GoFunction<Run = never> {
  readonly params: readonly ParamType[];
  readonly rest?: ParamType;
  readonly call: (args: Value[], run: Run) => Value;
}

/** A struct, pointer or named type with fields and methods: Capabilities, Files, a parsed version, a time. */
export abstract class GoObject {
  abstract readonly goType: string;
  readonly goKind: 'struct' | 'ptr' | 'map' | 'slice' | 'func' = 'struct';
  /** YAML has a scalar for it that is no string, as for a time; `plain` is how it is written. */
  readonly isYamlScalar: boolean = false;
  /** A field's value; `undefined` when there is no such field. */
  field(_name: string): Value | undefined {
    return undefined;
  }
  method(_name: string): GoFunction<never> | undefined {
    return undefined;
  }
  /** What `%v` prints. */
  abstract text(): string;
  /** What a template prints that ends in it; a method of a pointer counts there, and nowhere else. */
  printed(): string {
    return this.text();
  }
  /** How encoders see it. */
  plain(): Value {
    return this.text();
  }
  /** Its entries, for an object whose kind is `map` or `slice`. */
  contents(): GoMap | Value[] {
    return [];
  }
}

/** Type names of slices and maps that are not `[]interface {}` and `map[string]interface {}`. */
const namedTypes = new WeakMap<object, string>();

/** Says that a slice or map has a type of its own, such as `[]string`. */
export function typed<T extends Value[] | GoMap>(container: T, type: string): T {
  namedTypes.set(container, type);
  return container;
}

/** Maps and slices that were never made: empty to whoever reads them, `null` to encoders. */
const nilContainers = new WeakSet<Value[] | GoMap>();

export function nilMap(type = 'map[string]interface {}'): GoMap {
  const map = typed<GoMap>(new Map(), type);
  nilContainers.add(map);
  return map;
}

export function nilSlice(type = '[]interface {}'): Value[] {
  const slice = typed<Value[]>([], type);
  nilContainers.add(slice);
  return slice;
}

/** The list, or the slice that was never made when Go's function would not have made one for nothing. */
export function nilIfEmpty(items: Value[]): Value[] {
  return items.length > 0 ? items : nilSlice(namedTypes.get(items));
}

export function isNilContainer(value: Value): boolean {
  if (value instanceof Map) return value.size === 0 && nilContainers.has(value);
  return Array.isArray(value) && value.length === 0 && nilContainers.has(value);
}

export function strings(items: string[]): Value[] {
  return typed(items as Value[], '[]string');
}

export function typeOf(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float64';
  }
  if (Array.isArray(value)) return namedTypes.get(value) ?? '[]interface {}';
  if (value instanceof Map) return namedTypes.get(value) ?? 'map[string]interface {}';
  if (value instanceof SizedInt) return value.type;
  if (value instanceof Uint8Array) return '[]uint8';
  return value.goType;
}

export type Kind =
  | 'invalid'
  | 'string'
  | 'bool'
  | 'int'
  | 'int64'
  | 'int32'
  | 'uint8'
  | 'uint64'
  | 'float64'
  | 'slice'
  | 'map'
  | 'struct'
  | 'ptr'
  | 'func';

export function kindOf(value: Value): Kind {
  if (value === undefined || value === null) return 'invalid';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float64';
  }
  if (Array.isArray(value) || value instanceof Uint8Array) return 'slice';
  if (value instanceof Map) return 'map';
  if (value instanceof SizedInt) return value.kind;
  return value.goKind;
}

/** Go templates' idea of truth; also the opposite of what sprig calls empty, but for structs. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === null) return false;
  switch (typeof value) {
    case 'string':
      return value !== '';
    case 'boolean':
      return value;
    case 'bigint':
      return value !== 0n;
    case 'number':
      return value !== 0;
  }
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  if (value instanceof SizedInt) return value.value !== 0n;
  if (value.goKind === 'map' || value.goKind === 'slice') return sizeOf(value.contents()) > 0;
  return true;
}

export function sizeOf(contents: GoMap | Value[]): number {
  return Array.isArray(contents) ? contents.length : contents.size;
}

/** Keys in the order Go prints and ranges over them: by bytes. */
export function sortedKeys(map: ReadonlyMap<string, unknown>): string[] {
  const keys = [...map.keys()];
  return keys.length < 2 ? keys : keys.sort(utf8Compare);
}

export function isMap(value: Value): value is GoMap {
  return value instanceof Map;
}

/** The integer in a value of any integer type; `undefined` for everything else. */
export function integerOf(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return value instanceof SizedInt ? value.value : undefined;
}

/** Makes Go values of what JSON or a caller's object holds: objects become maps, numbers `float64`. */
export function fromPlain(value: unknown): Value {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return value as Value;
  if (Array.isArray(value)) return value.map(fromPlain);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [String(key), fromPlain(item)]));
  if (value instanceof Uint8Array || value instanceof SizedInt || value instanceof GoObject) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, fromPlain(item)]));
}

/** The other way: plain objects and numbers, for whoever reads values outside a template. */
export function toPlain(value: Value): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Map) {
    const result: Record<string, unknown> = {};
    for (const [key, item] of value) {
      Object.defineProperty(result, key, {
        value: toPlain(item),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return result;
  }
  if (value instanceof SizedInt) return Number(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return toPlain(value.plain());
}

/** A copy that shares no container with the original. */
export function deepCopy<T extends Value>(value: T): T {
  if (isNilContainer(value)) return (Array.isArray(value) ? nilSlice(typeOf(value)) : nilMap(typeOf(value))) as T;
  if (Array.isArray(value)) {
    const copy = value.map(deepCopy) as Value[];
    const type = namedTypes.get(value);
    return (type ? typed(copy, type) : copy) as T;
  }
  if (value instanceof Map) {
    const copy: GoMap = new Map();
    // Not by `for … of`: before V8 has compiled this, it makes three objects for every entry.
    (value as GoMap).forEach((item, key) => copy.set(key, deepCopy(item)));
    const type = namedTypes.get(value);
    return (type ? typed(copy, type) : copy) as T;
  }
  return value;
}

/** Go's reflect.DeepEqual, for the values templates can hold. */
export function deepEqual(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a === undefined || a === null || b === undefined || b === null) return (a ?? null) === (b ?? null);
  if (typeOf(a) !== typeOf(b) || isNilContainer(a) !== isNilContainer(b)) return false;
  if (a instanceof SizedInt && b instanceof SizedInt) return a.value === b.value;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  if (a instanceof Map && b instanceof Map) {
    if (a.size !== b.size) return false;
    for (const [key, item] of a) if (!b.has(key) || !deepEqual(item, b.get(key))) return false;
    return true;
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  if (a instanceof GoObject && b instanceof GoObject) return a.text() === b.text();
  return false;
}

/** Whether a value may be passed where a type is expected, as Go's reflection decides. */
export function isAssignable(value: Value, type: ParamType): boolean {
  switch (type) {
    case 'any':
    case 'value':
      return true;
    case 'string':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint';
    case 'float64':
      return typeof value === 'number';
    case 'map[string]interface {}': {
      if (!(value instanceof Map)) return false;
      const named = namedTypes.get(value);
      // A named map type has the same underlying type; one of other elements has not.
      return named === undefined || named === type || !named.startsWith('map[');
    }
    default:
      return typeOf(value) === type || `struct ${typeOf(value)}` === type;
  }
}

/** A type as Go's messages name it. */
export function typeLabel(type: ParamType): string {
  if (type === 'any') return 'interface {}';
  if (type === 'value') return 'reflect.Value';
  return type.replace(/^struct /, '');
}

/** Whether nil can be passed where a type is expected. */
export function canBeNil(type: ParamType): boolean {
  return (
    type === 'any' ||
    type === 'value' ||
    type.startsWith('map[') ||
    type.startsWith('[]') ||
    type.startsWith('struct *')
  );
}
