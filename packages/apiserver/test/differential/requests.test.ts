import { expect, it } from 'vitest';
import { differentialTests } from './differential-tests.ts';
import { groups } from './groups.ts';
import { ledger } from './ledger.ts';

for (const { name, controllers } of groups) if (controllers === undefined) differentialTests(name);

it('every entry of the ledger belongs to a case', () => {
  const names = new Set(groups.flatMap(({ cases }) => cases.map(({ name }) => name)));
  expect(ledger.filter((entry) => !names.has(entry.case))).toEqual([]);
});

it('no two cases share a name, and with it a namespace', () => {
  const names = groups.flatMap(({ cases }) => cases.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
});

it('at least 300 requests are compared', () => {
  const steps = groups.flatMap(({ cases }) => cases.flatMap((one) => one.steps));
  expect(steps.filter(({ does }) => does === 'send' || does === 'collect').length).toBeGreaterThanOrEqual(300);
});
