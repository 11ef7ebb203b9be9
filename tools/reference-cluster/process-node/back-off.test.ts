import { describe, expect, it } from 'vitest';
import { kubeletBackOff, RestartBackOff } from './back-off.ts';

describe('the wait before a restart', () => {
  it('doubles from ten seconds to five minutes', () => {
    const backOff = new RestartBackOff();
    expect(Array.from({ length: 7 }, () => backOff.nextMs(0) / 1000)).toEqual([10, 20, 40, 80, 160, 300, 300]);
  });

  it('begins again after a container ran for ten minutes', () => {
    const backOff = new RestartBackOff();
    backOff.nextMs(0);
    backOff.nextMs(0);
    expect(backOff.nextMs(kubeletBackOff.resetAfterMs)).toBe(10_000);
    expect(backOff.nextMs(0)).toBe(20_000);
  });
});
