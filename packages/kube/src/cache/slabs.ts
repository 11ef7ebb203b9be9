import type { Entry } from './entry.ts';

/** A stretch of memory outside the heap that holds the bytes of many objects. */
export interface Slab {
  readonly bytes: Buffer;
  used: number;
  /** Bytes of objects that are still cached. */
  live: number;
  /** Everything that was ever put here, in order; some of it is dead. */
  entries: Entry[];
}

const slabBytes = 1024 * 1024;
const firstSlabBytes = 64 * 1024;

/**
 * Memory for the bytes of cached objects. The garbage collector sees a few large buffers instead of millions of small
 * objects. When more than half of a full slab is dead its living objects move on and it is dropped; it is never written to
 * again, so whoever still reads an old object from it (a handler with the old state of an update) reads what was there.
 */
export class Slabs {
  #current: Slab | undefined;
  #nextSize = firstSlabBytes;
  readonly #full = new Set<Slab>();
  #liveBytes = 0;

  /** Bytes of cached objects. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Bytes taken from the system. */
  get reservedBytes(): number {
    let sum = this.#current?.bytes.length ?? 0;
    for (const slab of this.#full) sum += slab.bytes.length;
    return sum;
  }

  /** Finds room for `entry.length` bytes; the caller fills them in. */
  place(entry: Entry): void {
    const { length } = entry;
    let slab = this.#current;
    // Opening a slab may move others' objects into it, so look again.
    while (slab === undefined || slab.bytes.length - slab.used < length) slab = this.#open(length);
    entry.slab = slab;
    entry.offset = slab.used;
    slab.used += length;
    slab.live += length;
    slab.entries.push(entry);
    this.#liveBytes += length;
  }

  /** `entry` is no longer cached. Its bytes stay readable for those who hold it. */
  release(entry: Entry): void {
    if (!entry.alive) return;
    entry.alive = false;
    const { slab } = entry;
    slab.live -= entry.length;
    this.#liveBytes -= entry.length;
    if (slab !== this.#current && slab.live * 2 < slab.bytes.length && this.#full.has(slab)) this.#evacuate(slab);
  }

  #open(length: number): Slab {
    const old = this.#current;
    // An object of its own size gets a slab of its own, so that it does not close a slab that has room.
    if (length > slabBytes / 4) {
      const own: Slab = { bytes: Buffer.allocUnsafeSlow(length), used: 0, live: 0, entries: [] };
      this.#full.add(own);
      return own;
    }
    const slab: Slab = {
      bytes: Buffer.allocUnsafeSlow(Math.max(this.#nextSize, length)),
      used: 0,
      live: 0,
      entries: [],
    };
    this.#nextSize = Math.min(slabBytes, this.#nextSize * 2);
    this.#current = slab;
    if (old !== undefined) {
      this.#full.add(old);
      if (old.live * 2 < old.bytes.length) this.#evacuate(old);
    }
    return this.#current;
  }

  #evacuate(slab: Slab): void {
    this.#full.delete(slab);
    const { entries } = slab;
    slab.entries = [];
    for (const entry of entries) {
      if (!entry.alive || entry.slab !== slab) continue;
      const { offset, length } = entry;
      this.#liveBytes -= length;
      this.place(entry);
      slab.bytes.copy(entry.slab.bytes, entry.offset, offset, offset + length);
    }
  }
}
