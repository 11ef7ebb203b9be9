/**
 * What every format is read into: maps with their order and comments, lists, and leaves with the types SOPS knows.
 * Whole numbers are bigints, so that an int64 survives; other numbers are floats.
 */
export type Value = Mapping | Sequence | Leaf;

export type Leaf = string | bigint | number | boolean | Timestamp | Uint8Array | null;

/** A point in time as Go writes it: RFC 3339 with as many decimals as it needs. */
export class Timestamp {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface Comment {
  readonly kind: 'comment';
  /** Without the `#`. */
  text: string;
  /** At the end of the line of what follows, instead of on a line of its own. */
  readonly inline: boolean;
}

export interface Item {
  readonly kind: 'item';
  readonly key: string;
  value: Value;
}

export interface Element {
  readonly kind: 'element';
  value: Value;
}

export class Mapping {
  entries: (Comment | Item)[] = [];

  get(key: string): Value | undefined {
    for (const entry of this.entries) if (entry.kind === 'item' && entry.key === key) return entry.value;
    return undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: Value): this {
    const found = this.entries.find((entry) => entry.kind === 'item' && entry.key === key);
    if (found?.kind === 'item') found.value = value;
    else this.entries.push({ kind: 'item', key, value });
    return this;
  }
}

export class Sequence {
  elements: (Comment | Element)[] = [];
}

/** A file: one map for each of its documents. */
export type Documents = Mapping[];

/** Deeper than any file people write, and shallow enough for the stack. */
export const maxDepth = 500;
