import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { carryOverFields, carryOverIn } from './carry-over.ts';
import { pack, PackedDataError, unpack } from './packed.ts';

describe('packed data', () => {
  test('comes back as it was, with all digits', () => {
    expect(unpack(pack({ name: 'a', size: 3 }), 'x')).toEqual({ name: 'a', size: 3 });
  });

  test('that unpacks to more than it may is refused before it fills the memory', () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024, ' '));
    expect(bomb.length).toBeLessThan(200_000);
    expect(() => unpack(bomb, 'status.x')).toThrow('status.x unpacks to more than 67108864 bytes');
    expect(unpack(gzipSync('"12345678"'), 'x', 10)).toBe('12345678');
    expect(() => unpack(gzipSync('"123456789"'), 'x', 10)).toThrow('x unpacks to more than 10 bytes');
  });

  test.each([
    ['no gzip', Buffer.from('no gzip')],
    ['nothing', Buffer.alloc(0)],
    ['cut off', pack({ name: 'a' }).subarray(0, 20)],
    ['no JSON', gzipSync('{')],
  ])('that is %s is an error that names the place', (_what, bytes) => {
    expect(() => unpack(bytes, 'status.x')).toThrow(PackedDataError);
    expect(() => unpack(bytes, 'status.x')).toThrow('status.x cannot be unpacked');
  });
});

describe('a carry-over', () => {
  const configMap = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespace: 'default' };
  const refs = (count: number) => Array.from({ length: count }, (_, index) => ({ ...configMap, name: `c${index}` }));

  test.each([0, 200, 201, 5000])('of %d members is read as it was written', (count) => {
    expect(carryOverIn(carryOverFields(refs(count)) as never)).toEqual(refs(count));
  });

  test('that somebody else wrote is an error that names the field', () => {
    const carryOverPacked = gzipSync(Buffer.alloc(65 * 1024 * 1024, ' ')).toString('base64');
    expect(() => carryOverIn({ carryOverPacked } as never)).toThrow('status.carryOverPacked unpacks to more than');
    expect(() => carryOverIn({ carryOverPacked: '%%%' } as never)).toThrow('status.carryOverPacked cannot be unpacked');
  });
});
