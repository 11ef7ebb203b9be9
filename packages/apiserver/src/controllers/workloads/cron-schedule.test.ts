import { expect, test } from 'vitest';
import { parseCronSchedule } from './cron-schedule.ts';

function after(schedule: string, time: string, zone?: string): string | undefined {
  const next = parseCronSchedule(schedule, zone).next(Date.parse(time));
  return next === undefined ? undefined : new Date(next).toISOString();
}

test.each([
  ['*/15 * * * *', '2030-01-01T00:07:30Z', '2030-01-01T00:15:00.000Z'],
  ['0 3 * * *', '2030-01-01T03:00:00Z', '2030-01-02T03:00:00.000Z'],
  ['30 8 * * mon-fri', '2030-01-04T09:00:00Z', '2030-01-07T08:30:00.000Z'],
  ['0 0 29 2 *', '2030-01-01T00:00:00Z', '2032-02-29T00:00:00.000Z'],
  ['0 0 13 * 5', '2030-01-01T00:00:00Z', '2030-01-04T00:00:00.000Z'],
  ['0 0 1 jan,jul *', '2030-01-01T00:00:00Z', '2030-07-01T00:00:00.000Z'],
  ['@hourly', '2030-01-01T00:30:00Z', '2030-01-01T01:00:00.000Z'],
  ['0 0 * * 7', '2030-01-01T00:00:00Z', '2030-01-06T00:00:00.000Z'],
  ['5-10/2 * * * *', '2030-01-01T00:05:00Z', '2030-01-01T00:07:00.000Z'],
])('%s after %s is %s', (schedule, time, expected) => {
  expect(after(schedule, time)).toBe(expected);
});

test('time zones follow their clock changes', () => {
  expect(after('0 9 * * *', '2030-01-15T12:00:00Z', 'Europe/Berlin')).toBe('2030-01-16T08:00:00.000Z');
  expect(after('0 9 * * *', '2030-07-15T12:00:00Z', 'Europe/Berlin')).toBe('2030-07-16T07:00:00.000Z');
});

test('a day that never comes has no next time', () => {
  expect(after('0 0 31 2 *', '2030-01-01T00:00:00Z')).toBeUndefined();
});

test.each(['* * * *', '61 * * * *', '* * * * mon-', '*/0 * * * *', '10-5 * * * *', 'x * * * *', ''])(
  '%j is refused',
  (schedule) => {
    expect(() => parseCronSchedule(schedule)).toThrow(/./);
  },
);
