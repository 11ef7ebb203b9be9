import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Entry } from './entry.ts';
import { Slabs } from './slabs.ts';

function put(slabs: Slabs, key: string, length: number, mark: number): Entry {
  const entry = new Entry(key, mark, length);
  slabs.place(entry);
  entry.slab.bytes.fill(mark & 0xff, entry.offset, entry.offset + length);
  return entry;
}

function isIntact(entry: Entry): boolean {
  const { slab, offset, length, version } = entry;
  return slab.bytes.subarray(offset, offset + length).every((byte) => byte === (Number(version) & 0xff));
}

test('objects keep their bytes while others come and go, and so do old ones that somebody still holds', () => {
  const step = fc.record({
    key: fc.nat({ max: 40 }),
    length: fc.oneof(
      { weight: 20, arbitrary: fc.integer({ min: 1, max: 40_000 }) },
      fc.integer({ min: 1, max: 400_000 }),
    ),
    remove: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const slabs = new Slabs();
      const live = new Map<number, Entry>();
      const dead: Entry[] = [];
      for (const [index, { key, length, remove }] of steps.entries()) {
        const old = live.get(key);
        if (remove) live.delete(key);
        else live.set(key, put(slabs, String(key), length, index));
        if (old) {
          slabs.release(old);
          dead.push(old);
        }
      }
      let sum = 0;
      for (const entry of live.values()) {
        sum += entry.length;
        expect(isIntact(entry)).toBe(true);
      }
      expect(dead.every(isIntact)).toBe(true);
      expect(slabs.liveBytes).toBe(sum);
      // Half dead slabs are given up, so the rest is at least half full, but for the one in use.
      expect(slabs.reservedBytes).toBeLessThanOrEqual(2 * sum + 1_500_000);
    }),
    { numRuns: 60 },
  );
});

test('endless updates of a few objects do not take more memory', () => {
  const slabs = new Slabs();
  const held: Entry[] = [];
  for (let i = 0; i < 20_000; i += 1) {
    const old = held[i % 10];
    held[i % 10] = put(slabs, String(i % 10), 3_000, i);
    if (old) slabs.release(old);
  }
  expect(slabs.liveBytes).toBe(30_000);
  expect(slabs.reservedBytes).toBeLessThanOrEqual(2 * 1024 * 1024);
});
