import fc from 'fast-check';
import { expect, test } from 'vitest';

import { LineSplitter } from './line-splitter.ts';

function splitIn(bytes: Buffer, sizes: readonly number[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line, start, end) => lines.push(line.toString('utf8', start, end)));
  // One buffer for all chunks, as transports reuse theirs.
  const chunk = Buffer.alloc(64);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = Math.min(sizes[turn % sizes.length]!, bytes.length - at);
    chunk.fill(0);
    bytes.copy(chunk, 0, at, at + size);
    splitter.push(chunk.subarray(0, size));
    at += size;
  }
  splitter.end();
  return lines;
}

test('lines come out whole however the stream is cut, in the middle of characters too', () => {
  const line = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('{"a":"Größe 𝄞"}'), fc.string({ minLength: 200 }));
  fc.assert(
    fc.property(
      fc.array(line.map((text) => text.replaceAll('\n', ' '))),
      fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1 }),
      (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        // Lone surrogates become replacement characters on the way to bytes.
        const sent = lines.map((text) => Buffer.from(text).toString()).filter((text) => text !== '');
        expect(splitIn(bytes, sizes).filter((text) => text !== '')).toEqual(sent);
      },
    ),
  );
});

test('a last line without an end counts only when it is whole', () => {
  expect(splitIn(Buffer.from('{"a":1}\n{"b":2}'), [5])).toEqual(['{"a":1}', '{"b":2}']);
  expect(splitIn(Buffer.from('{"a":1}\n{"b":{"c":1}'), [5])).toEqual(['{"a":1}']);
});

test('a line that never ends is an error before it fills the memory', () => {
  const splitter = new LineSplitter(() => {}, 1_000);
  const push = () => {
    for (let i = 0; i < 20; i += 1) splitter.push(Buffer.alloc(100, 0x61));
  };
  expect(push).toThrow('a line is longer than 1000 bytes');
});

test('a rest does not keep the chunk it came in', () => {
  const splitter = new LineSplitter(() => {});
  const chunk = Buffer.from('{"type":');
  splitter.push(chunk);
  chunk.fill(0);
  const lines: string[] = [];
  const other = new LineSplitter((line, start, end) => lines.push(line.toString('utf8', start, end)));
  const reused = Buffer.from('first half ');
  other.push(reused);
  reused.fill(0x78);
  other.push(Buffer.from('second half\n'));
  expect(lines).toEqual(['first half second half']);
  expect(splitter.pendingBytes).toBe(8);
});
