import { typed, type GoMap, type Value } from './values.ts';

/** A map under another type: Go converts one without a copy, and what is changed in one of them is changed in both. */
class TypedView extends Map<string, Value> {
  readonly #map: GoMap;

  constructor(map: GoMap) {
    super();
    this.#map = map;
  }

  override get size(): number {
    return this.#map.size;
  }

  override get(key: string): Value {
    return this.#map.get(key);
  }

  override has(key: string): boolean {
    return this.#map.has(key);
  }

  override set(key: string, value: Value): this {
    this.#map.set(key, value);
    return this;
  }

  override delete(key: string): boolean {
    return this.#map.delete(key);
  }

  override clear(): void {
    this.#map.clear();
  }

  override keys(): MapIterator<string> {
    return this.#map.keys();
  }

  override values(): MapIterator<Value> {
    return this.#map.values();
  }

  override entries(): MapIterator<[string, Value]> {
    return this.#map.entries();
  }

  override [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.#map.entries();
  }

  override forEach(called: (value: Value, key: string, map: GoMap) => void): void {
    this.#map.forEach((value, key) => called(value, key, this));
  }
}

export function viewAs(map: GoMap, type: string): GoMap {
  return typed(new TypedView(map), type);
}
