import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { coveredItems } from './covered-items.ts';
import { groups } from './groups.ts';

const cases = groups.flatMap((group) => group.cases);
const steps = new Set(
  cases.flatMap(({ name, steps: all }) =>
    all.flatMap((step) =>
      step.does === 'send'
        ? [`${name} / ${step.label}`]
        : step.does === 'collect'
          ? [`${name} / watch ${step.watch}`]
          : [],
    ),
  ),
);
const names = new Set(cases.map(({ name }) => name));

function exists(place: string): boolean {
  if (place.endsWith('.test.ts')) return existsSync(join(import.meta.dirname, '..', place));
  return names.has(place) || steps.has(place);
}

it('every one of the 150 items is compared somewhere', () => {
  const numbers = Array.from({ length: 150 }, (_, index) => index + 1);
  expect(Object.keys(coveredItems).map(Number)).toEqual(numbers);
  expect(numbers.filter((number) => coveredItems[number]!.length === 0)).toEqual([]);
});

it('every place an item points to exists', () => {
  const missing = Object.entries(coveredItems).flatMap(([number, places]) =>
    places.filter((place) => !exists(place)).map((place) => `${number}: ${place}`),
  );
  expect(missing).toEqual([]);
});

it('at least 300 requests are compared', () => {
  expect(steps.size).toBeGreaterThanOrEqual(300);
});
