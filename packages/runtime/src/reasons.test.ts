import { expect, expectTypeOf, test } from 'vitest';

import { defineReasons, type ReasonOf } from './reasons.ts';

const reasons = defineReasons({
  Boat: { Afloat: { meaning: 'It floats.', action: '' }, Leaking: { meaning: 'It leaks.', action: 'Bail.', depth: 3 } },
  Harbour: { Full: { meaning: 'No berth is free.', action: 'Wait.' } },
});

test('a condition takes the reasons of its kind; another one does not compile', () => {
  const condition = reasons.conditionOf('Boat');
  expect(condition('Ready', false, 'Leaking', 'bail')).toMatchObject({
    type: 'Ready',
    status: 'False',
    reason: 'Leaking',
    message: 'bail',
  });
  expectTypeOf(condition).parameter(2).toEqualTypeOf<'Afloat' | 'Leaking'>();
  // @ts-expect-error A reason of another kind.
  condition('Ready', false, 'Full');
  expectTypeOf<ReasonOf<typeof reasons.rows, 'Harbour'>>().toEqualTypeOf<'Full'>();
});

test('every row is an explanation, in order, and keeps what else it says', () => {
  expect(reasons.explanations).toEqual([
    { kind: 'Boat', reason: 'Afloat', meaning: 'It floats.', action: '' },
    { kind: 'Boat', reason: 'Leaking', meaning: 'It leaks.', action: 'Bail.' },
    { kind: 'Harbour', reason: 'Full', meaning: 'No berth is free.', action: 'Wait.' },
  ]);
  expect(reasons.rows.Boat.Leaking.depth).toBe(3);
});

test('what others wrote is told apart', () => {
  expect(reasons.isReason('Boat', 'Leaking')).toBe(true);
  expect(reasons.isReason('Boat', 'Full')).toBe(false);
  expect(reasons.isReason('Boat', 'constructor')).toBe(false);
  expect(reasons.isReason('Boat', undefined)).toBe(false);
});
