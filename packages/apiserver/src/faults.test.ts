import { describe, expect, it } from 'vitest';
import { startCluster } from './cluster.ts';
import { ConnectionLost } from './faults.ts';
import { configMap, testClient } from './test-client.ts';
import { VirtualClock } from './virtual-clock.ts';

const path = '/api/v1/namespaces/default/configmaps';

async function prepared() {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock, controllers: 'none' });
  return { clock, cluster, client: testClient(cluster), [Symbol.asyncDispose]: () => cluster.stop() };
}

describe('a fault', () => {
  it('delays by the clock', async () => {
    await using plane = await prepared();
    plane.cluster.faults.add({ match: { verb: 'get', times: 1 }, action: { type: 'delay', delayMs: 5_000 } });
    let done = false;
    const waiting = plane.client.get(`${path}/a`).then((answer) => {
      done = true;
      return answer;
    });
    await plane.clock.advance(4_999);
    expect(done).toBe(false);
    await plane.clock.advance(1);
    expect((await waiting).status).toBe(404);
  });

  it('breaks the connection before the effect or after it', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    cluster.faults.add({ match: { verb: 'create', times: 1 }, action: { type: 'drop' } });
    await expect(client.post(path, configMap('a'))).rejects.toBeInstanceOf(ConnectionLost);
    expect((await client.get(`${path}/a`)).status).toBe(404);
    cluster.faults.add({ match: { verb: 'create', times: 1 }, action: { type: 'drop', when: 'after' } });
    await expect(client.post(path, configMap('a'))).rejects.toBeInstanceOf(ConnectionLost);
    expect((await client.get(`${path}/a`)).status).toBe(200);
  });

  it('refuses in any way, as often as told, and only what it matches', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    const rule = cluster.faults.add({
      match: { verb: ['create', 'update'], resource: 'configmaps', name: '', namespace: 'default', skip: 1, times: 1 },
      action: { type: 'error', status: 429, retryAfterSeconds: 7 },
    });
    expect((await client.post(path, configMap('a'))).status).toBe(201);
    const refused = await client.post(path, configMap('b'));
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('7');
    expect(refused.body).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 7 } });
    expect((await client.post(path, configMap('b'))).status).toBe(201);
    expect(rule.hits).toBe(1);
  });

  it('makes conflicts and stale reads', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    await client.post(path, configMap('a', { x: '1' }));
    await client.merge(`${path}/a`, { data: { x: '2' } });
    cluster.faults.add({ match: { verb: 'patch', times: 1 }, action: { type: 'conflict' } });
    expect((await client.merge(`${path}/a`, { data: { x: '3' } })).body).toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    const stale = cluster.faults.add({ match: { resource: 'configmaps' }, action: { type: 'staleRead' } });
    expect((await client.get(`${path}/a`)).body['data']).toEqual({ x: '1' });
    expect((await client.get(path)).body.items[0]!['data']).toEqual({ x: '1' });
    stale.remove();
    expect((await client.get(`${path}/a`)).body['data']).toEqual({ x: '2' });
  });

  it('kills watches, hard or clean', async () => {
    await using plane = await prepared();
    const { client, cluster, clock } = plane;
    cluster.faults.add({ match: { verb: 'watch', times: 1 }, action: { type: 'killWatch', afterEvents: 1 } });
    const hard = await client.watch(`${path}?watch=true`);
    await client.post(path, configMap('a'));
    await client.post(path, configMap('b'));
    expect(hard.summary()).toEqual(['ADDED a']);
    expect(hard.error).toBeInstanceOf(ConnectionLost);
    cluster.faults.add({
      match: { verb: 'watch', times: 1 },
      action: { type: 'killWatch', afterMs: 1_000, clean: true },
    });
    const clean = await client.watch(`${path}?watch=true`);
    await clock.advance(1_000);
    expect(clean.ended).toBe(true);
    expect(clean.error).toBeUndefined();
  });
});

describe('an interceptor', () => {
  it('stands before and after the effect of every request', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    const log: string[] = [];
    const stop = cluster.intercept((request, phase) => {
      log.push(`${phase} ${request.verb} ${request.resource?.plural ?? request.path} ${request.status ?? ''}`.trim());
    });
    await client.post(path, configMap('a'));
    await client.get('/version');
    stop();
    await client.get(`${path}/a`);
    expect(log).toEqual([
      'before create configmaps',
      'after create configmaps 201',
      'before get /version',
      'after get /version 200',
    ]);
  });

  it('can lose a connection at either point, or throw to do so', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    for (const crashAt of ['before', 'after'] as const) {
      const stop = cluster.intercept((request, phase) =>
        request.verb === 'create' && phase === crashAt ? 'drop' : undefined,
      );
      await expect(client.post(path, configMap(crashAt))).rejects.toBeInstanceOf(ConnectionLost);
      stop();
    }
    expect((await client.get(`${path}/before`)).status).toBe(404);
    expect((await client.get(`${path}/after`)).status).toBe(200);
  });
});

it('observers see every stored write with its object, inside the write', async () => {
  await using plane = await prepared();
  const { client, cluster } = plane;
  const seen: unknown[] = [];
  cluster.observe(({ type, storageId, revision, object, previous }) => {
    seen.push([type, storageId, revision === cluster.revision, object.metadata.name, previous?.metadata.name]);
  });
  await client.post(path, configMap('a'));
  await client.merge(`${path}/a`, { data: { x: '1' } });
  await client.merge(`${path}/a`, { data: { x: '1' } });
  await client.delete(`${path}/a`);
  expect(seen).toEqual([
    ['ADDED', 'configmaps', true, 'a', undefined],
    ['MODIFIED', 'configmaps', true, 'a', 'a'],
    ['DELETED', 'configmaps', true, 'a', 'a'],
  ]);
});
