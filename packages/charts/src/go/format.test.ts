import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength, bytesToText, sliceBytes, textToBytes, utf8Compare } from './bytes.ts';
import { formatFloat } from './float.ts';
import { show, sprint, sprintf } from './format.ts';
import { quote, unquote } from './quote.ts';
import { int64, typed } from './values.ts';

describe('printf', () => {
  it.each([
    ['%5d|%-5d|%05d|%+d', [42n, 42n, 42n, 42n], '   42|42   |00042|+42'],
    ['%x %X %o %b %c %U', [255n, 255n, 8n, 5n, 65n, 65n], 'ff FF 10 101 A U+0041'],
    ['%v %v %v', [1e6, 1e-5, 100_000], '1e+06 1e-05 100000'],
    ['%.2f %e %g', [2.345, 1500.5, 1e21], '2.35 1.500500e+03 1e+21'],
    ['%d %s %t', ['x', 3n, 1n], '%!d(string=x) %!s(int=3) %!t(int=1)'],
    ['%s %[1]s %', ['a'], 'a a %!(NOVERB)'],
    ['%s %s', ['a'], 'a %!s(MISSING)'],
    ['%s', ['a', 2n], 'a%!(EXTRA int=2)'],
    ['%q %q', ['é"\n', 65n], `"é\\"\\n" 'A'`],
    ['%.1x|%.0x|%X|%.3x|%x', [1e6, 3, 0.1, 1, 5e-324], '0x1.fp+19|0x1p+02|0X1.999999999999AP-04|0x1.000p+00|0x1p-1074'],
    ['%.0x|%#.2X|%#.0f|%#g|%b', [2.5, -0, 3, 1, 2.5], '0x1p+01|-0X0.00P+00|3.|1.00000|5629499534213120p-51'],
    ['%#U|%#U|%O|%#O|%#o', [-7n, 65n, 8n, 8n, 8n], "U+FFFFFFFFFFFFFFF9|U+0041 'A'|0o10|0o010|010"],
    ['%T %T %v', [int64(1), typed([], '[]string'), null], 'int64 []string <nil>'],
  ] as const)('%s', (format, args, expected) => {
    expect(sprintf(format, [...args])).toBe(expected);
  });

  it('rounds half to even, on the exact value', () => {
    expect([0.5, 1.5, 2.5, 0.125].map((number) => formatFloat(number, 'f', 0))).toEqual(['0', '2', '2', '0']);
    expect(formatFloat(1.005, 'f', 2)).toBe('1.00');
  });

  it('shows maps by key and puts spaces only between two that are no strings', () => {
    expect(
      show(
        new Map([
          ['b', 1],
          ['a', null],
        ]),
      ),
    ).toBe('map[a:<nil> b:1]');
    expect(sprint([1n, 2n, 'a', 'b', 3n, null])).toBe('1 2ab3 <nil>');
  });

  it('reads its shortest floats back', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        for (const format of ['e', 'f', 'g'] as const) expect(Number(formatFloat(number, format))).toBe(number);
      }),
    );
  });
});

describe('strings of bytes', () => {
  it('survive whatever bytes they hold', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = bytesToText(bytes);
        expect(Buffer.from(textToBytes(text))).toEqual(Buffer.from(bytes));
        expect(byteLength(text)).toBe(bytes.length);
      }),
    );
  });

  it('are cut between bytes', () => {
    expect(textToBytes(sliceBytes('grüße', 0, 3))).toEqual(Uint8Array.from([0x67, 0x72, 0xc3]));
  });

  it('have the order of their bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(Math.sign(utf8Compare(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
      }),
    );
  });

  it('are quoted and read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(unquote(quote(text))).toBe(text);
      }),
    );
    expect(unquote('"\\xff\\101\\u00e9"')).toBe('\udcffAé');
    expect(unquote('"\\q"')).toBeUndefined();
  });
});
