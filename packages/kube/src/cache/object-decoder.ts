import type { Kind } from '../kind.ts';
import { UndecodableError } from '../reflector/json-bytes.ts';
import { type CutPlan, ObjectScan } from '../reflector/object-scan.ts';
import type { Version } from '../reflector/resource-version.ts';
import { Entry } from './entry.ts';
import type { Slabs } from './slabs.ts';

const nothing = Buffer.alloc(0);

export interface DecoderOptions {
  readonly kind: Kind;
  readonly metadataOnly: boolean;
  readonly stripManagedFields: boolean;
  readonly fields: readonly string[] | undefined;
}

/**
 * Turns the bytes of an object as the server sends them into an entry: finds its key and version, and keeps what is to be
 * kept, without parsing. What it found last stays until the next `scan`.
 */
export class ObjectDecoder {
  readonly #scan = new ObjectScan();
  readonly #plan: CutPlan;
  readonly #metadataOnly: boolean;
  readonly #namespaced: boolean;
  readonly #typeMembers: Buffer;
  readonly #metadataHead: Buffer;
  readonly #slabs: Slabs;
  #bytes: Buffer = nothing;
  #start = 0;
  #end = 0;
  #key = '';

  constructor(options: DecoderOptions, slabs: Slabs) {
    const { kind } = options;
    this.#plan = {
      stripManagedFields: options.stripManagedFields,
      fields: options.metadataOnly ? undefined : options.fields?.map((field) => Buffer.from(field, 'utf8')),
    };
    this.#metadataOnly = options.metadataOnly;
    this.#namespaced = kind.scope === 'Namespaced';
    const type = `"apiVersion":${JSON.stringify(kind.apiVersion)},"kind":${JSON.stringify(kind.kind)},`;
    this.#typeMembers = Buffer.from(type);
    this.#metadataHead = Buffer.from(`{${type}"metadata":`);
    this.#slabs = slabs;
  }

  get key(): string {
    return this.#key;
  }

  get version(): Version {
    return this.#scan.version;
  }

  /** Position after the object; only after a scan of an item. */
  get end(): number {
    return this.#scan.end;
  }

  /** Reads the header of the object between `start` and `end`. */
  scan(bytes: Buffer, start: number, end: number): void {
    this.#scan.scan(bytes, start, end, this.#plan, false);
    this.#found(bytes, start, end);
  }

  /** Reads the header of a list's item, whose end is not known. */
  scanItem(bytes: Buffer, start: number): void {
    this.#scan.scan(bytes, start, bytes.length, this.#plan, true);
    this.#found(bytes, start, this.#scan.end);
  }

  /** Lets go of the bytes that were scanned last: a chunk or a page that nobody else needs. */
  release(): void {
    this.#bytes = nothing;
    this.#scan.release();
  }

  #found(bytes: Buffer, start: number, end: number): void {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    const { name } = this.#scan;
    if (name === '') throw new UndecodableError('an object has no name');
    if (!this.#namespaced) {
      this.#key = name;
      return;
    }
    const { namespace } = this.#scan;
    if (namespace === '') throw new UndecodableError('a namespaced object has no namespace');
    this.#key = `${namespace}/${name}`;
  }

  /** An entry for what was scanned last, with its bytes in the slabs. */
  keep(): Entry {
    const entry = new Entry(this.#key, this.#scan.version, this.#keptLength(), this.#scan.generation);
    this.#slabs.place(entry);
    this.#copyTo(entry.slab.bytes, entry.offset);
    return entry;
  }

  /** The same, with memory of its own: for an object that is gone and only told about. */
  keepApart(): Entry {
    const entry = new Entry(this.#key, this.#scan.version, this.#keptLength(), this.#scan.generation);
    const bytes = Buffer.allocUnsafeSlow(entry.length);
    entry.slab = { bytes, used: entry.length, live: 0, entries: [] };
    entry.alive = false;
    this.#copyTo(bytes, 0);
    return entry;
  }

  /** Items of lists of built-in kinds come without the two fields that say what they are. */
  get #needsType(): boolean {
    return !this.#scan.hasApiVersion && !this.#scan.hasKind;
  }

  #keptLength(): number {
    const { cuts, metadataStart, metadataEnd } = this.#scan;
    if (this.#metadataOnly) {
      return (
        this.#metadataHead.length + metadataEnd - metadataStart + 1 - cuts.bytesBetween(metadataStart, metadataEnd)
      );
    }
    return (
      this.#end -
      this.#start -
      cuts.bytesBetween(this.#start, this.#end) +
      (this.#needsType ? this.#typeMembers.length : 0)
    );
  }

  #copyTo(target: Buffer, offset: number): void {
    const { metadataStart, metadataEnd } = this.#scan;
    if (this.#metadataOnly) {
      this.#metadataHead.copy(target, offset);
      const at = this.#copyRange(target, offset + this.#metadataHead.length, metadataStart, metadataEnd);
      target[at] = 0x7d;
      return;
    }
    if (this.#needsType) {
      target[offset] = 0x7b;
      this.#typeMembers.copy(target, offset + 1);
      this.#copyRange(target, offset + 1 + this.#typeMembers.length, this.#start + 1, this.#end);
      return;
    }
    this.#copyRange(target, offset, this.#start, this.#end);
  }

  #copyRange(target: Buffer, offset: number, start: number, end: number): number {
    const bytes = this.#bytes;
    const { cuts } = this.#scan;
    let at = offset;
    let from = start;
    for (let i = 0; i < cuts.size; i += 1) {
      const cutStart = cuts.start(i);
      if (cutStart < from || cutStart >= end) continue;
      at += bytes.copy(target, at, from, cutStart);
      from = cuts.end(i);
    }
    return at + bytes.copy(target, at, from, end);
  }
}
