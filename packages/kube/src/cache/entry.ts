import type { KubeObject } from '../object.ts';
import type { Version } from '../reflector/resource-version.ts';
import type { Slab } from './slabs.ts';

/** One cached object: its header on the heap, its bytes in a slab, and its parsed form while somebody needs it. */
export class Entry {
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly version: Version;
  /** `metadata.generation`; 0 when there is none. */
  readonly generation: number;
  slab: Slab;
  offset: number;
  readonly length: number;
  /** Whether this is what the cache holds now; false once it is superseded or deleted. */
  alive = true;
  parsed: KubeObject | undefined = undefined;

  constructor(key: string, version: Version, length: number, generation = 0) {
    this.key = key;
    this.version = version;
    this.length = length;
    this.generation = generation;
    this.slab = nowhere;
    this.offset = 0;
  }
}

const nowhere: Slab = { bytes: Buffer.alloc(0), used: 0, live: 0, entries: [] };
