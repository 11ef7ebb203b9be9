import { describe, expect, test } from 'vitest';

import { condition, findCondition, isConditionTrue, ready, removeCondition, setCondition } from './conditions.ts';

const start = Date.UTC(2026, 0, 1);
const later = start + 60_000;

describe('conditions', () => {
  test('the time moves only when the status flips', () => {
    const first = setCondition([], ready(false, 'Waiting', 'not yet'), start);
    expect(first[0]!.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
    const reworded = setCondition(first, ready(false, 'StillWaiting', 'soon'), later);
    expect(reworded[0]).toMatchObject({ reason: 'StillWaiting', lastTransitionTime: '2026-01-01T00:00:00Z' });
    const flipped = setCondition(reworded, ready(true, 'Done', 'running'), later);
    expect(flipped[0]).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' });
  });

  test('the same condition again gives the same array', () => {
    const first = setCondition([], ready(true, 'Done', ''), start);
    expect(setCondition(first, ready(true, 'Done', ''), later)).toBe(first);
  });

  test('others keep their place', () => {
    const one = setCondition([], condition('A', true, 'Yes'), start);
    const two = setCondition(one, condition('B', 'Unknown', 'Maybe'), start);
    const three = setCondition(two, condition('A', false, 'No'), later);
    expect(three.map((c) => `${c.type}=${c.status}`)).toEqual(['A=False', 'B=Unknown']);
    expect(removeCondition(three, 'A').map((c) => c.type)).toEqual(['B']);
    expect(removeCondition(three, 'C')).toBe(three);
  });

  test('are found in objects and lists', () => {
    const conditions = setCondition([], ready(true, 'Done'), start);
    expect(isConditionTrue({ status: { conditions } }, 'Ready')).toBe(true);
    expect(isConditionTrue(conditions, 'Ready')).toBe(true);
    expect(findCondition({}, 'Ready')).toBeUndefined();
    expect(findCondition(undefined, 'Ready')).toBeUndefined();
  });

  test('a reason that is a sentence is refused', () => {
    expect(() => ready(false, 'not ready yet')).toThrow('reason "not ready yet" must be a CamelCase word');
  });
});
