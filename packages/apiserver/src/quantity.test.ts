import { describe, expect, it } from 'vitest';
import { canonicalQuantity, compareQuantities, parseQuantity } from './quantity.ts';

describe('canonicalQuantity', () => {
  it.each([
    ['0.5', '500m'],
    ['1024Mi', '1Gi'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['0', '0'],
    ['0.0', '0'],
    ['0Gi', '0'],
    ['1Gi', '1Gi'],
    ['0.5Gi', '512Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['100', '100'],
    ['1000', '1k'],
    ['128974848', '128974848'],
    ['1e3', '1e3'],
    ['1000e3', '1e6'],
    ['1.500', '1.500'],
    ['0.1n', '1n'],
    ['-1000m', '-1'],
    ['.5', '500m'],
    ['1E', '1E'],
    ['8Ki', '8Ki'],
    ['1000Ki', '1000Ki'],
  ])('writes %s as %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  it.each(['', 'abc', '1 Gi', '1.2.3', '--1', '1Gib'])('refuses %j', (text) => {
    expect(() => parseQuantity(text)).toThrow(/quantit/);
  });

  it('compares by value', () => {
    expect(compareQuantities('1Gi', '1024Mi')).toBe(0);
    expect(compareQuantities('500m', '1')).toBeLessThan(0);
    expect(compareQuantities('1k', '999')).toBeGreaterThan(0);
  });
});
