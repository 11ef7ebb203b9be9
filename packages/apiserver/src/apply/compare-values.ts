import { equalJson } from '../equal-json.ts';
import type { Json, JsonObject } from '../object.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { type FieldType, type ListType, type MapType, elementOf, handledShape, isMap, shapeOf } from './field-type.ts';
import { fieldElement } from './path-element.ts';

/** Which fields differ between two values of one type. No path is in more than one of the sets. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

export function compareValues(before: Json | undefined, after: Json | undefined, type: FieldType): Comparison {
  const comparing = new Comparing();
  comparing.compare(before, after, type);
  return {
    removed: comparing.removed.build(),
    modified: comparing.modified.build(),
    added: comparing.added.build(),
  };
}

/** The comparison without what lies at or below `fields`. */
export function excludeFields(comparison: Comparison, fields: FieldSet): Comparison {
  if (fields.isEmpty) return comparison;
  return {
    removed: comparison.removed.recursiveDifference(fields),
    modified: comparison.modified.recursiveDifference(fields),
    added: comparison.added.recursiveDifference(fields),
  };
}

class Comparing {
  readonly removed = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  readonly added = new FieldSetBuilder();
  readonly #path: string[] = [];

  compare(before: Json | undefined, after: Json | undefined, type: FieldType): void {
    // Stored objects share what a write did not touch.
    if (before === after && before !== undefined) return;
    const old = shapeOf(type, before);
    const now = shapeOf(type, after);
    let leaf: boolean;
    if (after === undefined) leaf = this.#handle(before, after, type, old);
    else if (before === undefined || old === now) leaf = this.#handle(before, after, type, now);
    else {
      this.#handle(before, after, type, old);
      leaf = this.#handle(before, after, type, now);
    }
    if (leaf) return;
    if (before === undefined) this.added.insert(this.#path);
    else if (after === undefined) this.removed.insert(this.#path);
  }

  /** True when the value was treated as one leaf. */
  #handle(
    before: Json | undefined,
    after: Json | undefined,
    type: FieldType,
    shape: ReturnType<typeof shapeOf>,
  ): boolean {
    switch (handledShape(type, shape)) {
      case 'map': {
        const old = isMap(before) ? before : undefined;
        const now = isMap(after) ? after : undefined;
        if (type.map?.atomic || (isEmptyMap(old) && isEmptyMap(now))) return this.#leaf(before, after);
        this.#compareMaps(old, now, type.map as MapType);
        return false;
      }
      case 'list': {
        const old = Array.isArray(before) ? before : [];
        const now = Array.isArray(after) ? after : [];
        if (type.list?.relation === 'atomic' || old.length + now.length === 0) return this.#leaf(before, after);
        this.#compareLists(old, now, type.list as ListType);
        return false;
      }
      default:
        return this.#leaf(before, after);
    }
  }

  #leaf(before: Json | undefined, after: Json | undefined): true {
    if (before === undefined) this.added.insert(this.#path);
    else if (after === undefined) this.removed.insert(this.#path);
    else if (!equalJson(before, after)) this.modified.insert(this.#path);
    return true;
  }

  #compareMaps(old: JsonObject | undefined, now: JsonObject | undefined, type: MapType): void {
    if (old) for (const key of Object.keys(old)) this.#compareField(key, old[key], now?.[key], type);
    if (!now) return;
    for (const key of Object.keys(now)) {
      if (!old || !Object.hasOwn(old, key)) this.#compareField(key, undefined, now[key], type);
    }
  }

  #compareField(key: string, before: Json | undefined, after: Json | undefined, type: MapType): void {
    if (before === after) return;
    const fieldType = type.field(key) ?? type.elementType;
    if (!fieldType) return;
    this.#path.push(fieldElement(key));
    this.compare(before, after, fieldType);
    this.#path.pop();
  }

  #compareLists(old: Json[], now: Json[], type: ListType): void {
    const before = group(old, type);
    const after = group(now, type);
    for (const element of new Set([...before.keys(), ...after.keys()])) {
      const left = before.get(element) ?? [];
      const right = after.get(element) ?? [];
      this.#path.push(element);
      if (left.length <= 1 && right.length <= 1) this.compare(left[0], right[0], type.elementType);
      else if (left.length > 1 && right.length > 1) {
        if (!equalJson(left, right)) this.modified.insert(this.#path);
      } else if (left.length > 1) {
        // Elements that share a name are owned as one; they part when the duplicates go.
        if (right.length > 0) this.compare(undefined, right[0], type.elementType);
        this.removed.insert(this.#path);
      } else {
        if (left.length > 0) this.compare(left[0], undefined, type.elementType);
        this.added.insert(this.#path);
      }
      this.#path.pop();
    }
  }
}

function isEmptyMap(value: JsonObject | undefined): boolean {
  if (value) for (const _ in value) return false;
  return true;
}

function group(list: readonly Json[], type: ListType): Map<string, Json[]> {
  const groups = new Map<string, Json[]>();
  for (const item of list) {
    const element = elementOf(type, item);
    const known = groups.get(element);
    if (known) known.push(item);
    else groups.set(element, [item]);
  }
  return groups;
}
