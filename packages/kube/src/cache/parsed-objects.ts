import type { DeepReadonly, KubeObject, ObjectMeta } from '../object.ts';
import { parseAt } from '../reflector/json-bytes.ts';
import { nothingCut, ObjectScan } from '../reflector/object-scan.ts';
import type { Entry } from './entry.ts';

/**
 * Parses entries when they are read and remembers the ones read lately. Two generations stand in for an exact order of
 * use: when the young one is full, what is only in the old one is forgotten.
 */
export class ParsedObjects {
  readonly #capacity: number;
  readonly #freeze: boolean;
  readonly #scan = new ObjectScan();
  #young = new Set<Entry>();
  #old = new Set<Entry>();
  #parses = 0;

  /** `capacity`: objects that are remembered at least; at most twice as many. */
  constructor(capacity: number, freeze: boolean) {
    this.#capacity = capacity;
    this.#freeze = freeze;
  }

  /** How many objects were parsed so far. */
  get parses(): number {
    return this.#parses;
  }

  get(entry: Entry): DeepReadonly<KubeObject> {
    const { parsed } = entry;
    if (parsed !== undefined) {
      if (!this.#young.has(entry)) this.#remember(entry);
      return parsed as DeepReadonly<KubeObject>;
    }
    const object = this.parse(entry);
    if (this.#capacity > 0) {
      entry.parsed = object as KubeObject;
      this.#remember(entry);
    }
    return object;
  }

  /** Parses without remembering: for reads of more objects than are worth keeping. */
  parse(entry: Entry): DeepReadonly<KubeObject> {
    if (entry.parsed !== undefined) return entry.parsed as DeepReadonly<KubeObject>;
    this.#parses += 1;
    const object = parseAt(entry.slab.bytes, entry.offset, entry.offset + entry.length) as KubeObject;
    if (this.#freeze) deepFreeze(object);
    return object as DeepReadonly<KubeObject>;
  }

  /** Only the metadata: a small part of most objects. */
  meta(entry: Entry): DeepReadonly<ObjectMeta> {
    if (entry.parsed !== undefined) return entry.parsed.metadata as DeepReadonly<ObjectMeta>;
    const scan = this.#scanned(entry);
    const meta = parseAt(entry.slab.bytes, scan.metadataStart, scan.metadataEnd) as ObjectMeta;
    if (this.#freeze) deepFreeze(meta);
    return meta as DeepReadonly<ObjectMeta>;
  }

  labels(entry: Entry): Readonly<Record<string, string>> {
    return entry.parsed?.metadata.labels ?? this.#scanned(entry).labels;
  }

  uid(entry: Entry): string {
    return this.#scanned(entry).uid;
  }

  forget(entry: Entry): void {
    if (entry.parsed === undefined) return;
    entry.parsed = undefined;
    this.#young.delete(entry);
    this.#old.delete(entry);
  }

  #scanned(entry: Entry): ObjectScan {
    const { slab, offset, length } = entry;
    this.#scan.scan(slab.bytes, offset, offset + length, nothingCut, false);
    return this.#scan;
  }

  #remember(entry: Entry): void {
    this.#old.delete(entry);
    this.#young.add(entry);
    if (this.#young.size < this.#capacity) return;
    for (const forgotten of this.#old) forgotten.parsed = undefined;
    this.#old = this.#young;
    this.#young = new Set();
  }
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const field of Object.values(value)) deepFreeze(field);
  Object.freeze(value);
}
