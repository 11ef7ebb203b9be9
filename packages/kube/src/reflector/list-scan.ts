import { isRecord } from '../json.ts';
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  parseAt,
  quote,
  skipSpace,
  stringAt,
  stringEnd,
  UndecodableError,
  valueEnd,
} from './json-bytes.ts';

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
}

/**
 * Takes the body of a LIST apart item by item, so that the caller can pause between items. `metadata` may stand before or
 * after `items`: it is known once the walk is done.
 */
export class ListScan {
  readonly bytes: Buffer;
  /** Where the present item starts; set by `next`. The caller reports where it ends with `itemEnds`. */
  itemStart = 0;
  meta: ListMeta = {};
  #at: number;
  #inItems = false;
  #done = false;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    const start = skipSpace(bytes, 0, bytes.length);
    if (bytes[start] !== openBrace) throw new UndecodableError('the answer to a LIST is not an object');
    this.#at = start + 1;
  }

  /** Moves to the next item; false when there is none left. */
  next(): boolean {
    const { bytes } = this;
    const end = bytes.length;
    for (;;) {
      if (this.#done) return false;
      let at = skipSpace(bytes, this.#at, end);
      if (at >= end) throw new UndecodableError('the answer to a LIST is cut short');
      if (bytes[at] === comma) at = skipSpace(bytes, at + 1, end);
      if (this.#inItems) {
        if (bytes[at] === closeBracket) {
          this.#inItems = false;
          this.#at = at + 1;
          continue;
        }
        this.itemStart = at;
        return true;
      }
      if (bytes[at] === closeBrace) {
        this.#done = true;
        return false;
      }
      if (bytes[at] !== quote) throw new UndecodableError('the answer to a LIST is not JSON');
      const keyEnd = stringEnd(bytes, at, end);
      const key = stringAt(bytes, at, keyEnd);
      at = skipSpace(bytes, keyEnd, end);
      if (bytes[at] !== colon) throw new UndecodableError('the answer to a LIST is not JSON');
      at = skipSpace(bytes, at + 1, end);
      if (key === 'items' && bytes[at] === openBracket) {
        this.#inItems = true;
        this.#at = at + 1;
        continue;
      }
      const valueStop = valueEnd(bytes, at, end);
      if (key === 'metadata') this.meta = listMeta(parseAt(bytes, at, valueStop));
      this.#at = valueStop;
    }
  }

  itemEnds(at: number): void {
    this.#at = at;
  }
}

/** What is no text is left out: a version or token of another type is none. */
function listMeta(value: unknown): ListMeta {
  const { resourceVersion, continue: token } = isRecord(value) ? value : {};
  return {
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    ...(typeof token === 'string' ? { continue: token } : {}),
  };
}
