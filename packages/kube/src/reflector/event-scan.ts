import {
  bytesAre,
  closeBrace,
  colon,
  comma,
  openBrace,
  quote,
  skipSpace,
  stringEnd,
  UndecodableError,
  valueEnd,
} from './json-bytes.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

const head = Buffer.from('{"type":"', 'latin1');
const middle = Buffer.from('","object":', 'latin1');
const typeKey = Buffer.from('type', 'latin1');
const objectKey = Buffer.from('object', 'latin1');

const types: readonly (readonly [EventType, Buffer])[] = (
  ['MODIFIED', 'ADDED', 'DELETED', 'BOOKMARK', 'ERROR'] as const
).map((type) => [type, Buffer.from(type, 'latin1')] as const);

/** Takes the envelope off one line of a watch. One instance is used again and again. */
export class EventScan {
  type: EventType = 'ERROR';
  objectStart = 0;
  /** Position after the object. */
  objectEnd = 0;

  scan(bytes: Buffer, start: number, lineEnd: number): void {
    let end = lineEnd;
    while (end > start && bytes[end - 1]! <= 0x20) end -= 1;
    if (bytesAre(bytes, start, head)) {
      const typeStart = start + head.length;
      const type = typeAt(bytes, typeStart);
      const typeEnd = typeStart + type.length;
      if (bytesAre(bytes, typeEnd, middle)) {
        this.objectStart = typeEnd + middle.length;
        this.objectEnd = end - 1;
        // Without these the line is torn; what lies between is checked when it is parsed.
        if (
          bytes[end - 1] === closeBrace &&
          bytes[this.objectStart] === openBrace &&
          bytes[this.objectEnd - 1] === closeBrace
        ) {
          this.type = type;
          return;
        }
      }
    }
    this.#scanAnyOrder(bytes, start, end);
  }

  #scanAnyOrder(bytes: Buffer, start: number, end: number): void {
    let at = skipSpace(bytes, start, end);
    if (bytes[at] !== openBrace) throw new UndecodableError('a watch event is not an object');
    let type: EventType | undefined;
    let found = false;
    at += 1;
    for (;;) {
      at = skipSpace(bytes, at, end);
      if (bytes[at] === closeBrace) break;
      if (bytes[at] === comma) at = skipSpace(bytes, at + 1, end);
      if (bytes[at] !== quote) throw new UndecodableError('a watch event is not JSON');
      const keyStart = at + 1;
      const keyEnd = stringEnd(bytes, at, end) - 1;
      at = skipSpace(bytes, keyEnd + 1, end);
      if (bytes[at] !== colon) throw new UndecodableError('a watch event is not JSON');
      const valueStart = skipSpace(bytes, at + 1, end);
      at = valueEnd(bytes, valueStart, end);
      if (keyEnd - keyStart === 4 && bytesAre(bytes, keyStart, typeKey)) type = typeAt(bytes, valueStart + 1);
      else if (keyEnd - keyStart === 6 && bytesAre(bytes, keyStart, objectKey)) {
        this.objectStart = valueStart;
        this.objectEnd = at;
        found = bytes[valueStart] === openBrace;
      }
    }
    if (type === undefined || !found) throw new UndecodableError('a watch event has no type or no object');
    this.type = type;
  }
}

function typeAt(bytes: Buffer, at: number): EventType {
  for (const [type, text] of types) {
    if (bytes[at + text.length] === quote && bytesAre(bytes, at, text)) return type;
  }
  throw new UndecodableError('a watch event has a type nobody knows');
}
