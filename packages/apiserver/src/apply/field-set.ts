import type { JsonObject } from '../object.ts';
import type { FieldType } from './field-type.ts';
import { compareElements, isElement, printElement } from './path-element.ts';

/**
 * A set of field paths, kept as the trie FieldsV1 writes: a node's `members` are paths that end there, its `children` lead
 * further. One element may be both. Sets are values: operations return new ones and share what did not change.
 */
export class FieldSet {
  readonly members: ReadonlySet<string>;
  readonly children: ReadonlyMap<string, FieldSet>;

  constructor(members: ReadonlySet<string> = new Set(), children: ReadonlyMap<string, FieldSet> = new Map()) {
    this.members = members;
    this.children = children;
  }

  static of(...paths: readonly (readonly string[])[]): FieldSet {
    const builder = new FieldSetBuilder();
    for (const path of paths) builder.insert(path);
    return builder.build();
  }

  /** Throws an Error when an element is not one FieldsV1 knows. */
  static fromFieldsV1(fields: JsonObject): FieldSet {
    const members = new Set<string>();
    const children = new Map<string, FieldSet>();
    for (const [element, value] of Object.entries(fields)) {
      if (element === '.') continue;
      if (!isElement(element)) throw new Error(`unrecognized path element ${JSON.stringify(element)}`);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw new Error(`the fields below ${element} must be an object`);
      }
      const names = Object.keys(value);
      if (names.length === 0 || Object.hasOwn(value, '.')) members.add(element);
      if (names.length > (Object.hasOwn(value, '.') ? 1 : 0)) children.set(element, FieldSet.fromFieldsV1(value));
    }
    return new FieldSet(members, children);
  }

  toFieldsV1(): JsonObject {
    const result: [string, JsonObject][] = [];
    const elements = new Set([...this.members, ...this.children.keys()]);
    for (const element of [...elements].toSorted(compareElements)) {
      const below = this.children.get(element)?.toFieldsV1() ?? {};
      const both = this.members.has(element) && Object.keys(below).length > 0;
      result.push([element, both ? { '.': {}, ...below } : below]);
    }
    return Object.fromEntries(result);
  }

  get isEmpty(): boolean {
    if (this.members.size > 0) return false;
    for (const child of this.children.values()) if (!child.isEmpty) return false;
    return true;
  }

  has(path: readonly string[]): boolean {
    const [first, ...rest] = path;
    if (first === undefined) return false;
    return rest.length === 0 ? this.members.has(first) : (this.children.get(first)?.has(rest) ?? false);
  }

  /** The paths that start with `element`, without it. */
  below(element: string): FieldSet {
    return this.children.get(element) ?? emptyFieldSet;
  }

  union(other: FieldSet): FieldSet {
    if (other === emptyFieldSet || other.isEmpty) return this;
    if (this.isEmpty) return other;
    const children = new Map(this.children);
    for (const [element, child] of other.children) {
      const own = children.get(element);
      children.set(element, own ? own.union(child) : child);
    }
    return new FieldSet(new Set([...this.members, ...other.members]), children);
  }

  intersection(other: FieldSet): FieldSet {
    const members = new Set<string>();
    for (const element of this.members) if (other.members.has(element)) members.add(element);
    const children = new Map<string, FieldSet>();
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      if (!theirs) continue;
      const common = child.intersection(theirs);
      if (!common.isEmpty) children.set(element, common);
    }
    return new FieldSet(members, children);
  }

  /** Without the paths of `other`; a path below one of them stays. */
  difference(other: FieldSet): FieldSet {
    return this.#without(other, false);
  }

  /** Without the paths of `other` and everything below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#without(other, true);
  }

  #without(other: FieldSet, recursive: boolean): FieldSet {
    if (other.members.size === 0 && other.children.size === 0) return this;
    const members = new Set<string>();
    for (const element of this.members) if (!other.members.has(element)) members.add(element);
    const children = new Map<string, FieldSet>();
    for (const [element, child] of this.children) {
      if (recursive && other.members.has(element)) continue;
      const theirs = other.children.get(element);
      const left = theirs ? child.#without(theirs, recursive) : child;
      if (!left.isEmpty) children.set(element, left);
    }
    return new FieldSet(members, children);
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty && other.difference(this).isEmpty;
  }

  /** With every named field of a struct that has something below it as a member itself. */
  withNamedFields(type: FieldType | undefined): FieldSet {
    if (this.children.size === 0) return this;
    const members = new Set(this.members);
    const children = new Map<string, FieldSet>();
    for (const [element, child] of this.children) {
      let childType: FieldType | undefined;
      if (element.startsWith('f:') && type?.map) {
        const name = element.slice(2);
        if (type.map.field(name)) members.add(element);
        childType = type.map.field(name) ?? type.map.elementType;
      } else if (element.startsWith('k:')) childType = type?.list?.elementType;
      children.set(element, child.withNamedFields(childType));
    }
    return new FieldSet(members, children);
  }

  /** All paths, a node's own members before what is below its children. */
  *paths(prefix: readonly string[] = []): Generator<string[]> {
    for (const element of [...this.members].toSorted(compareElements)) yield [...prefix, element];
    for (const element of [...this.children.keys()].toSorted(compareElements)) {
      yield* this.below(element).paths([...prefix, element]);
    }
  }
}

export const emptyFieldSet = new FieldSet();

/** Go's text of a path: `.spec.ports[port=1,proto="TCP"].name`. */
export function printPath(path: readonly string[]): string {
  return path.map(printElement).join('');
}

/** A set under construction. */
export class FieldSetBuilder {
  readonly #members = new Set<string>();
  readonly #children = new Map<string, FieldSetBuilder>();

  insert(path: readonly string[], from = 0): void {
    const element = path[from];
    if (element === undefined) return;
    if (from === path.length - 1) this.#members.add(element);
    else {
      let child = this.#children.get(element);
      if (!child) {
        child = new FieldSetBuilder();
        this.#children.set(element, child);
      }
      child.insert(path, from + 1);
    }
  }

  build(): FieldSet {
    if (this.#members.size === 0 && this.#children.size === 0) return emptyFieldSet;
    const children = new Map<string, FieldSet>();
    for (const [element, child] of this.#children) children.set(element, child.build());
    return new FieldSet(this.#members, children);
  }
}
