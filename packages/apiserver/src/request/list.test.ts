import { beforeEach, describe, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../cluster.ts';
import { configMap, testClient, type TestClient } from '../test-client.ts';
import { VirtualClock } from '../virtual-clock.ts';

const path = '/api/v1/namespaces/n/configmaps';
let clock: VirtualClock;
let cluster: Cluster;
let client: TestClient;

beforeEach(async () => {
  clock = new VirtualClock();
  cluster = await startCluster({ clock, controllers: 'none' });
  client = testClient(cluster);
  await client.post('/api/v1/namespaces', { metadata: { name: 'n' } });
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await client.post(path, configMap(name, {}, { labels: { odd: String('ace'.includes(name)) } }));
  }
  return () => cluster.stop();
});

const names = (answer: { body: { items: { metadata: { name?: string } }[] } }) =>
  answer.body.items.map(({ metadata }) => metadata.name);

describe('a list', () => {
  it('comes in pages that all show the same moment', async () => {
    const first = await client.get(`${path}?limit=2`);
    expect(names(first)).toEqual(['a', 'b']);
    const { resourceVersion, continue: token, remainingItemCount } = first.body.metadata;
    expect(remainingItemCount).toBe(3);
    await client.delete(`${path}/c`);
    await client.post(path, configMap('bb'));
    const second = await client.get(`${path}?limit=2&continue=${String(token)}`);
    expect(names(second)).toEqual(['c', 'd']);
    expect(second.body.metadata).toMatchObject({ resourceVersion, remainingItemCount: 1 });
    const third = await client.get(`${path}?limit=2&continue=${String(second.body.metadata['continue'])}`);
    expect(names(third)).toEqual(['e']);
    expect(third.body.metadata).toEqual({ resourceVersion });
  });

  it('over all namespaces continues across them', async () => {
    await client.post('/api/v1/namespaces/default/configmaps', configMap('z'));
    const first = await client.get('/api/v1/configmaps?limit=1');
    const second = await client.get(`/api/v1/configmaps?limit=3&continue=${String(first.body.metadata['continue'])}`);
    expect([...names(first), ...names(second)]).toEqual(['z', 'extension-apiserver-authentication', 'a', 'b']);
  });

  it('with a selector does not count what remains', async () => {
    const answer = await client.get(`${path}?limit=1&labelSelector=odd%3Dtrue`);
    expect(names(answer)).toEqual(['a']);
    expect(answer.body.metadata).not.toHaveProperty('remainingItemCount');
    expect(names(await client.get(`${path}?labelSelector=odd%3Dtrue`))).toEqual(['a', 'c', 'e']);
    expect(names(await client.get(`${path}?fieldSelector=metadata.name%3Db`))).toEqual(['b']);
    expect(names(await client.get(`${path}?fieldSelector=metadata.name!%3Db,metadata.namespace%3Dn&limit=1`))).toEqual([
      'a',
    ]);
  });

  it.each([
    [
      'fieldSelector=data.a%3D1',
      400,
      '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ['fieldSelector=foo', 400, "invalid selector: 'foo'; can't understand 'foo'"],
    ['labelSelector=%3D%3D%3D', 400, "found '==', expected: !, identifier, or 'end of string'"],
    [
      'continue=abc',
      400,
      "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
    ],
    [
      'resourceVersion=abc',
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      'resourceVersionMatch=Exact',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      'resourceVersion=0&resourceVersionMatch=Exact',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
  ])('?%s → %i', async (query, status, message) => {
    const answer = await client.get(`${path}?${query}`);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toBe(message);
  });

  it('continue and resourceVersion exclude each other', async () => {
    const first = await client.get(`${path}?limit=2`);
    const both = await client.get(
      `${path}?limit=2&resourceVersion=1&continue=${String(first.body.metadata['continue'])}`,
    );
    expect(both.body.message).toBe('specifying resource version is not allowed when using continue');
  });

  it('of the past is exact until it is compacted', async () => {
    const before = cluster.revision;
    await client.delete(`${path}/a`);
    const exact = `${path}?resourceVersion=${before}&resourceVersionMatch=Exact`;
    expect(names(await client.get(exact))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(names(await client.get(`${path}?resourceVersion=${before}&resourceVersionMatch=NotOlderThan`))).toEqual([
      'b',
      'c',
      'd',
      'e',
    ]);
    cluster.compact();
    const gone = await client.get(exact);
    expect(gone.status).toBe(410);
    expect(gone.body).toMatchObject({
      reason: 'Expired',
      message: 'The resourceVersion for the provided list is too old.',
    });
  });

  it('whose pages are gone comes with a token to go on anyway', async () => {
    const first = await client.get(`${path}?limit=2`);
    await client.post(path, configMap('cc'));
    cluster.compact();
    const gone = await client.get(`${path}?limit=2&continue=${String(first.body.metadata['continue'])}`);
    expect(gone.status).toBe(410);
    expect(gone.body.reason).toBe('Expired');
    const rest = await client.get(`${path}?continue=${String(gone.body.metadata['continue'])}`);
    expect(names(rest)).toEqual(['c', 'cc', 'd', 'e']);
  });

  it('of a version that does not come is a timeout after three seconds', async () => {
    const waiting = client.get(`${path}?resourceVersion=99999999&resourceVersionMatch=NotOlderThan`);
    await clock.advance(3_000);
    const answer = await waiting;
    expect(answer.status).toBe(504);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.body).toMatchObject({
      reason: 'Timeout',
      message: `Timeout: Too large resource version: 99999999, current: ${cluster.revision}`,
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    });
  });

  it('of a version that is about to come waits for it', async () => {
    const waiting = client.get(`${path}?resourceVersion=${cluster.revision + 1}`);
    await client.post(path, configMap('f'));
    expect(names(await waiting)).toContain('f');
  });

  it('as Table and as bare metadata', async () => {
    const table = await client.get(`${path}?limit=1`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect(table.body).toMatchObject({ kind: 'Table', metadata: { remainingItemCount: 4 } });
    expect((table.body['rows'] as { cells: unknown[] }[])[0]!.cells[0]).toBe('a');
    const metadata = await client.get(`${path}?limit=1`, {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    });
    expect(metadata.body.kind).toBe('PartialObjectMetadataList');
    expect(metadata.body.items[0]).not.toHaveProperty('data');
  });

  it('a negative limit is no limit', async () => {
    expect(names(await client.get(`${path}?limit=-1`))).toHaveLength(5);
  });

  it('in a namespace that does not exist is empty', async () => {
    expect((await client.get('/api/v1/namespaces/nope/configmaps')).body.items).toEqual([]);
  });
});
