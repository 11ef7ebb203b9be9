import { describe, expect, test } from 'vitest';

import { ageText, renderTable, type Column } from './table.ts';
import { cut, textWidth } from './text-width.ts';

interface Row {
  readonly name: string;
  readonly note: string;
}

const columns: Column<Row>[] = [
  { title: 'NAME', text: (row) => row.name },
  { title: 'NOTE', text: (row) => row.note, flexible: true },
];

describe('renderTable', () => {
  test('puts the note beside the row where there is room', () => {
    expect(renderTable(columns, [{ name: 'a', note: 'waits for b' }], 80)).toEqual([
      'NAME   NOTE',
      'a      waits for b',
    ]);
  });

  test('puts the note below the row where there is not', () => {
    const rows = [{ name: 'a-rather-long-name', note: 'waits for something with a long name' }];
    expect(renderTable(columns, rows, 40)).toEqual([
      'NAME',
      'a-rather-long-name',
      '  waits for something with a long name',
    ]);
  });

  test('leaves the note out when nobody has one', () => {
    expect(renderTable(columns, [{ name: 'a', note: '' }], 80)).toEqual(['NAME', 'a']);
  });

  test.each([20, 40, 80, 200])('never exceeds %d columns', (width) => {
    const rows = [{ name: 'n'.repeat(100), note: 'm'.repeat(300) }];
    for (const line of renderTable(columns, rows, width)) expect(textWidth(line)).toBeLessThanOrEqual(width);
  });
});

describe('cut', () => {
  test('keeps what fits', () => expect(cut('abc', 3)).toBe('abc'));
  test('ends with an ellipsis', () => expect(cut('abcdef', 4)).toBe('abc…'));
  test('does not count colours, and ends them', () => {
    expect(cut('\u001B[32mabcdef\u001B[0m', 4)).toBe('\u001B[32mabc…\u001B[0m');
    expect(cut('\u001B[32mabc\u001B[0m', 3)).toBe('\u001B[32mabc\u001B[0m');
  });
  test('does not break a character in two', () => expect(cut('🚢🚢🚢', 2)).toBe('🚢…'));
});

test.each([
  [0, '0s'],
  [119_000, '119s'],
  [192_000, '3m12s'],
  [300_000, '5m'],
  [7_200_000, '120m'],
  [14_400_000, '4h'],
  [345_600_000, '4d'],
])('ageText of %d ms is %s', (ms, text) => expect(ageText(1000, 1000 + ms)).toBe(text));
