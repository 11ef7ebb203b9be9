import {
  bytesAre,
  closeBrace,
  colon,
  comma,
  openBrace,
  parseAt,
  quote,
  skipSpace,
  stringAt,
  stringEnd,
  UndecodableError,
  valueEnd,
} from './json-bytes.ts';
import { type Version, versionAt } from './resource-version.ts';

const ascii = (text: string) => Buffer.from(text, 'latin1');

const nothing = Buffer.alloc(0);

const names = {
  kind: ascii('kind'),
  apiVersion: ascii('apiVersion'),
  metadata: ascii('metadata'),
  name: ascii('name'),
  namespace: ascii('namespace'),
  uid: ascii('uid'),
  labels: ascii('labels'),
  generation: ascii('generation'),
  annotations: ascii('annotations'),
  managedFields: ascii('managedFields'),
  resourceVersion: ascii('resourceVersion'),
  lastApplied: ascii('kubectl.kubernetes.io/last-applied-configuration'),
};

/** What is cut from an object before it is kept. */
export interface CutPlan {
  /** Cut `metadata.managedFields` and the last-applied annotation. */
  readonly stripManagedFields: boolean;
  /** Keep only these top-level fields besides apiVersion, kind and metadata. `undefined`: all. */
  readonly fields: readonly Uint8Array[] | undefined;
}

export const nothingCut: CutPlan = { stripManagedFields: false, fields: undefined };

/** Stretches that fall out of an object, in order. It is filled anew for every object, so its memory is kept. */
export class CutList {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  start(index: number): number {
    return this.#starts[index]!;
  }

  end(index: number): number {
    return this.#ends[index]!;
  }

  clear(): void {
    this.#size = 0;
  }

  insert(start: number, end: number): void {
    let at = this.#size;
    while (at > 0 && this.#starts[at - 1]! > start) {
      this.#starts[at] = this.#starts[at - 1]!;
      this.#ends[at] = this.#ends[at - 1]!;
      at -= 1;
    }
    this.#starts[at] = start;
    this.#ends[at] = end;
    this.#size += 1;
  }

  /** Bytes of the cuts that begin between two positions. */
  bytesBetween(from: number, to: number): number {
    let sum = 0;
    for (let i = 0; i < this.#size; i += 1) {
      const start = this.#starts[i]!;
      if (start >= from && start < to) sum += this.#ends[i]! - start;
    }
    return sum;
  }
}

/**
 * Finds the header of an object in its bytes: where metadata is, the few fields the cache works with, and what to cut. It
 * follows the structure, so a label called `name` or a spec with a `metadata` in it does not confuse it. One instance is
 * used again and again; its fields hold until the next scan. Positions count from the start of the scanned buffer.
 */
export class ObjectScan {
  #bytes: Buffer = nothing;
  /** Position after the object; only after a scan of the whole object. */
  end = 0;
  metadataStart = 0;
  metadataEnd = 0;
  hasApiVersion = false;
  hasKind = false;
  version: Version = '';
  generation = 0;
  readonly cuts = new CutList();
  #nameStart = 0;
  #nameEnd = 0;
  #namespaceStart = 0;
  #namespaceEnd = 0;
  #uidStart = 0;
  #uidEnd = 0;
  #labelsStart = 0;
  #labelsEnd = 0;
  readonly #topMembers = new MemberRun();
  readonly #metadataMembers = new MemberRun();
  readonly #annotationMembers = new MemberRun();

  get name(): string {
    return this.#nameEnd === 0 ? '' : stringAt(this.#bytes, this.#nameStart, this.#nameEnd);
  }

  get namespace(): string {
    return this.#namespaceEnd === 0 ? '' : stringAt(this.#bytes, this.#namespaceStart, this.#namespaceEnd);
  }

  get uid(): string {
    return this.#uidEnd === 0 ? '' : stringAt(this.#bytes, this.#uidStart, this.#uidEnd);
  }

  get labels(): Readonly<Record<string, string>> {
    if (this.#labelsEnd === 0) return {};
    return (parseAt(this.#bytes, this.#labelsStart, this.#labelsEnd) ?? {}) as Record<string, string>;
  }

  /**
   * Scans the object that starts at `start`. With `whole` the scan goes on to the end of the object (list items, whose end
   * is not known otherwise); else it stops as soon as it knows enough.
   */
  scan(bytes: Buffer, start: number, limit: number, plan: CutPlan, whole: boolean): void {
    this.#bytes = bytes;
    this.metadataEnd = 0;
    this.hasApiVersion = false;
    this.hasKind = false;
    this.version = '';
    this.generation = 0;
    this.cuts.clear();
    this.#nameEnd = 0;
    this.#namespaceEnd = 0;
    this.#uidEnd = 0;
    this.#labelsEnd = 0;

    const { fields } = plan;
    const toTheEnd = whole || fields !== undefined;
    const run = this.#topMembers;
    run.begin(bytes, start, limit);
    while (run.next()) {
      const { keyStart, keyLength, valueStart } = run;
      if (keyLength === 8 && bytesAre(bytes, keyStart, names.metadata)) {
        this.metadataStart = valueStart;
        this.metadataEnd = this.#scanMetadata(bytes, valueStart, limit, plan);
        run.keep(this.metadataEnd, this.cuts);
        if (!toTheEnd && this.hasApiVersion && this.hasKind) return;
        continue;
      }
      const end = valueEnd(bytes, valueStart, limit);
      if (keyLength === 4 && bytesAre(bytes, keyStart, names.kind)) this.hasKind = true;
      else if (keyLength === 10 && bytesAre(bytes, keyStart, names.apiVersion)) this.hasApiVersion = true;
      else if (fields !== undefined && !isOneOf(fields, bytes, keyStart, keyLength)) {
        run.cut(end);
        continue;
      }
      run.keep(end, this.cuts);
    }
    this.end = run.close(this.cuts);
    if (this.metadataEnd === 0) throw new UndecodableError('an object has no metadata');
  }

  /** Lets go of the buffer that was scanned last. */
  release(): void {
    this.#bytes = nothing;
    this.#topMembers.bytes = nothing;
    this.#metadataMembers.bytes = nothing;
    this.#annotationMembers.bytes = nothing;
  }

  #scanMetadata(bytes: Buffer, start: number, limit: number, plan: CutPlan): number {
    if (bytes[start] !== openBrace) throw new UndecodableError('metadata is not an object');
    const run = this.#metadataMembers;
    run.begin(bytes, start, limit);
    while (run.next()) {
      const { keyStart, keyLength, valueStart } = run;
      let end: number;
      switch (keyLength) {
        case 11:
          if (
            plan.stripManagedFields &&
            bytes[valueStart] === openBrace &&
            bytesAre(bytes, keyStart, names.annotations)
          ) {
            end = this.#scanAnnotations(bytes, valueStart, limit);
            run.keep(end, this.cuts);
            continue;
          }
          end = valueEnd(bytes, valueStart, limit);
          break;
        case 13:
          end = valueEnd(bytes, valueStart, limit);
          if (plan.stripManagedFields && bytesAre(bytes, keyStart, names.managedFields)) {
            run.cut(end);
            continue;
          }
          break;
        default:
          end = valueEnd(bytes, valueStart, limit);
          this.#headerField(bytes, keyStart, keyLength, valueStart, end);
      }
      run.keep(end, this.cuts);
    }
    return run.close(this.cuts);
  }

  #headerField(bytes: Buffer, keyStart: number, keyLength: number, valueStart: number, end: number): void {
    const text = bytes[valueStart] === quote;
    if (keyLength === 4) {
      if (text && bytesAre(bytes, keyStart, names.name)) {
        this.#nameStart = valueStart;
        this.#nameEnd = end;
      }
    } else if (keyLength === 9) {
      if (text && bytesAre(bytes, keyStart, names.namespace)) {
        this.#namespaceStart = valueStart;
        this.#namespaceEnd = end;
      }
    } else if (keyLength === 15) {
      if (text && bytesAre(bytes, keyStart, names.resourceVersion)) {
        this.version = versionAt(bytes, valueStart + 1, end - 1);
      }
    } else if (keyLength === 3) {
      if (text && bytesAre(bytes, keyStart, names.uid)) {
        this.#uidStart = valueStart;
        this.#uidEnd = end;
      }
    } else if (keyLength === 10) {
      if (bytesAre(bytes, keyStart, names.generation)) this.generation = numberAt(bytes, valueStart, end);
    } else if (keyLength === 6 && bytesAre(bytes, keyStart, names.labels)) {
      this.#labelsStart = valueStart;
      this.#labelsEnd = end;
    }
  }

  #scanAnnotations(bytes: Buffer, start: number, limit: number): number {
    const run = this.#annotationMembers;
    run.begin(bytes, start, limit);
    while (run.next()) {
      const end = valueEnd(bytes, run.valueStart, limit);
      if (run.keyLength === names.lastApplied.length && bytesAre(bytes, run.keyStart, names.lastApplied)) run.cut(end);
      else run.keep(end, this.cuts);
    }
    return run.close(this.cuts);
  }
}

/**
 * Walks the members of one JSON object and records which stretches fall out when some of them are cut: commas go with the
 * members, so that what is left is an object again.
 */
class MemberRun {
  bytes: Buffer = nothing;
  limit = 0;
  at = 0;
  first = true;
  keptEnd = -1;
  cutStart = -1;
  keyStart = 0;
  keyLength = 0;
  valueStart = 0;

  begin(bytes: Buffer, start: number, limit: number): void {
    if (bytes[start] !== openBrace) throw new UndecodableError(`an object is missing at byte ${start}`);
    this.bytes = bytes;
    this.limit = limit;
    this.at = start + 1;
    this.first = true;
    this.keptEnd = -1;
    this.cutStart = -1;
  }

  /** Moves to the next member; false at the closing brace. `keep` or `cut` must follow. */
  next(): boolean {
    const bytes = this.bytes;
    let at = skipSpace(bytes, this.at, this.limit);
    if (bytes[at] === closeBrace) {
      this.at = at;
      return false;
    }
    if (this.first) this.first = false;
    else {
      if (bytes[at] !== comma) throw new UndecodableError(`a comma is missing at byte ${at}`);
      at = skipSpace(bytes, at + 1, this.limit);
    }
    if (bytes[at] !== quote) throw new UndecodableError(`a key is missing at byte ${at}`);
    const keyEnd = stringEnd(bytes, at, this.limit);
    this.keyStart = at + 1;
    this.keyLength = keyEnd - at - 2;
    at = skipSpace(bytes, keyEnd, this.limit);
    if (bytes[at] !== colon) throw new UndecodableError(`a colon is missing at byte ${at}`);
    this.valueStart = skipSpace(bytes, at + 1, this.limit);
    return true;
  }

  keep(end: number, cuts: CutList): void {
    if (this.cutStart >= 0) {
      // Cuts of inner objects of this member were recorded already: this one comes before them.
      cuts.insert(this.cutStart, this.keyStart - 1);
      this.cutStart = -1;
    }
    this.keptEnd = end;
    this.at = end;
  }

  cut(end: number): void {
    if (this.cutStart < 0) this.cutStart = this.keyStart - 1;
    this.at = end;
  }

  /** Position after the closing brace. */
  close(cuts: CutList): number {
    if (this.cutStart >= 0) cuts.insert(this.keptEnd >= 0 ? this.keptEnd : this.cutStart, this.at);
    return this.at + 1;
  }
}

function isOneOf(fields: readonly Uint8Array[], bytes: Buffer, keyStart: number, keyLength: number): boolean {
  for (const field of fields) {
    if (field.length === keyLength && bytesAre(bytes, keyStart, field)) return true;
  }
  return false;
}

function numberAt(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i += 1) {
    const digit = bytes[i]! - 0x30;
    if (digit < 0 || digit > 9) return 0;
    value = value * 10 + digit;
  }
  return value;
}
