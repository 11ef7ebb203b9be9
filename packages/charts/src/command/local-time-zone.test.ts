import { expect, test } from 'vitest';

import { localTimeZone } from './local-time-zone.ts';

test.each([
  ['', 'UTC'],
  ['Etc/UTC', 'UTC'],
  ['Europe/Berlin', 'Europe/Berlin'],
  [':Europe/Berlin', 'Europe/Berlin'],
  ['/usr/share/zoneinfo/Asia/Tokyo', 'Asia/Tokyo'],
  ['Nowhere/Town', 'UTC'],
])('TZ=%s is %s', (TZ, zone) => {
  expect(localTimeZone({ TZ })()).toBe(zone);
});

test('in the environment of this process it tells the times that Node tells', () => {
  const timeZone = localTimeZone(process.env)();
  for (const month of [0, 6]) {
    const at = new Date(Date.UTC(2026, month, 1));
    expect(at.toLocaleString('en', { timeZone })).toBe(at.toLocaleString('en'));
  }
});
