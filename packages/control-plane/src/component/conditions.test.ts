import { expect, test } from 'vitest';

import { ConditionUpdater } from './conditions.ts';

const before = { type: 'A', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
const now = Date.parse('2026-02-02T00:00:00Z');

test('the time of a condition moves only when its status does', () => {
  const [same] = new ConditionUpdater([before], now).update({ type: 'A', status: 'True', reason: 'New' }).conditions();
  expect(same).toEqual({ type: 'A', status: 'True', reason: 'New', lastTransitionTime: before.lastTransitionTime });
  const [flipped] = new ConditionUpdater([before], now).update({ type: 'A', status: 'False' }).conditions();
  expect(flipped?.lastTransitionTime).toBe('2026-02-02T00:00:00Z');
});

test('conditions nobody states are dropped, and the list is in the order of the types', () => {
  const updater = new ConditionUpdater([before], now);
  updater.update({ type: 'C', status: 'True' }).update({ type: 'B', status: 'Unknown' });
  expect(updater.has('A')).toBe(false);
  expect(updater.conditions().map(({ type }) => type)).toEqual(['B', 'C']);
});
