import { startCluster } from '@slipway/apiserver';
import { createClient, type RawRequest } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { MetricsAccess } from './metrics-access.ts';

const metrics = (authorization?: string) => ({
  path: '/metrics',
  headers: authorization === undefined ? {} : { authorization },
});

/** An API server that knows `good` and `stranger`, and lets only the monitoring account read metrics. */
function reviews() {
  const asked: string[] = [];
  const users: Record<string, string> = { good: 'monitoring', stranger: 'somebody' };
  return {
    asked,
    async request({ path, body }: RawRequest): Promise<unknown> {
      asked.push(path);
      const { spec } = body as { spec: { token?: string; user?: string; nonResourceAttributes?: unknown } };
      if (path.endsWith('/tokenreviews')) {
        const username = users[spec.token ?? ''];
        return { status: username ? { authenticated: true, user: { username, groups: ['g'] } } : {} };
      }
      expect(spec.nonResourceAttributes).toEqual({ path: '/metrics', verb: 'get' });
      return { status: { allowed: spec.user === 'monitoring' } };
    },
  };
}

describe('MetricsAccess', () => {
  test.each([
    ['no token', undefined, 401],
    ['basic credentials', 'Basic Z29vZDo=', 401],
    ['a token nobody knows', 'Bearer bad', 401],
    ['a user who may not', 'Bearer stranger', 403],
    ['a user who may', 'Bearer good', undefined],
  ])('%s', async (_what, authorization, status) => {
    const access = new MetricsAccess(reviews(), new VirtualClock());
    expect((await access.refusal(metrics(authorization)))?.status).toBe(status);
  });

  test('an allowed token is asked about once a minute, a refused one sooner', async () => {
    const server = reviews();
    const clock = new VirtualClock();
    const access = new MetricsAccess(server, clock);
    for (let second = 0; second < 59; second += 1) {
      await access.refusal(metrics('Bearer good'));
      await clock.advance(1000);
    }
    expect(server.asked).toHaveLength(2);
    await clock.advance(2000);
    await access.refusal(metrics('Bearer good'));
    expect(server.asked).toHaveLength(4);
    await access.refusal(metrics('Bearer bad'));
    await clock.advance(11_000);
    await access.refusal(metrics('Bearer bad'));
    expect(server.asked).toHaveLength(6);
  });

  test('an API server that cannot be asked refuses nobody for good: the next request asks again', async () => {
    const server = reviews();
    let down = true;
    const access = new MetricsAccess(
      { request: (request) => (down ? Promise.reject(new Error('down')) : server.request(request)) },
      new VirtualClock(),
    );
    await expect(access.refusal(metrics('Bearer good'))).rejects.toThrow('down');
    down = false;
    expect(await access.refusal(metrics('Bearer good'))).toBeUndefined();
  });

  test('an API server answers such reviews', async () => {
    await using cluster = await startCluster({ controllers: 'none' });
    const client = createClient({ transport: cluster.transport, fieldManager: 'test' });
    const access = new MetricsAccess(client, new VirtualClock());
    expect((await access.refusal(metrics('Bearer nobody')))?.status).toBe(401);
  });
});
