import type { DeepReadonly, KubeObject, ObjectMeta } from '../object.ts';
import { parseAt } from '../reflector/json-bytes.ts';
import { nothingCut, ObjectScan } from '../reflector/object-scan.ts';
import type { Entry } from './entry.ts';

/** How many objects that were read once are remembered: enough for the reads of the reconciliations that run now. */
const passingCapacity = 64;

/**
 * Parses entries when they are read and remembers those that are read again. An object read once is remembered for a short
 * while only, so that a walk over everything (a start, a resync) neither pushes out the ones in use nor leaves garbage old
 * enough to be expensive. Two generations stand in for an exact order of use: when the young one is full, what is only in
 * the old one is forgotten.
 */
export class ParsedObjects {
  readonly #capacity: number;
  readonly #freeze: boolean;
  readonly #scan = new ObjectScan();
  readonly #passing: (Entry | undefined)[];
  #passed = 0;
  #young = new Set<Entry>();
  #old = new Set<Entry>();
  #parses = 0;

  /** `capacity`: objects read more than once that are remembered at least; at most twice as many. */
  constructor(capacity: number, freeze: boolean) {
    this.#capacity = capacity;
    this.#freeze = freeze;
    this.#passing = Array.from({ length: Math.min(passingCapacity, capacity) });
  }

  /** How many objects were parsed so far. */
  get parses(): number {
    return this.#parses;
  }

  get(entry: Entry): DeepReadonly<KubeObject> {
    if (entry.parsed !== undefined) return this.keep(entry);
    const object = this.parse(entry);
    if (this.#capacity > 0) {
      entry.parsed = object as KubeObject;
      this.#rememberInPassing(entry);
    }
    return object;
  }

  /** Reads an object that will be read again, such as one of a list. */
  keep(entry: Entry): DeepReadonly<KubeObject> {
    const object = this.parse(entry);
    if (this.#capacity > 0 && !this.#young.has(entry)) {
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
    const slot = this.#passing.indexOf(entry);
    if (slot >= 0) this.#passing[slot] = undefined;
  }

  #scanned(entry: Entry): ObjectScan {
    const { slab, offset, length } = entry;
    this.#scan.scan(slab.bytes, offset, offset + length, nothingCut, false);
    return this.#scan;
  }

  #rememberInPassing(entry: Entry): void {
    const slot = this.#passed % this.#passing.length;
    const before = this.#passing[slot];
    if (before !== undefined && !this.#young.has(before) && !this.#old.has(before)) before.parsed = undefined;
    this.#passing[slot] = entry;
    this.#passed += 1;
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
