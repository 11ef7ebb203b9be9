import { describe, expect, it } from 'vitest';
import { startCluster } from '../cluster.ts';
import { configMap, testClient } from '../test-client.ts';
import { VirtualClock } from '../virtual-clock.ts';

const path = '/api/v1/namespaces/default/configmaps';

async function prepared() {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock, controllers: 'none' });
  return { cluster, clock, client: testClient(cluster), [Symbol.asyncDispose]: () => cluster.stop() };
}

describe('a watch', () => {
  it('tells every change once, with the deleting revision, and nothing for a write that changes nothing', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    const watch = await client.watch(`${path}?watch=true&resourceVersion=${cluster.revision}`);
    await client.post(path, configMap('a', { x: '1' }));
    await client.merge(`${path}/a`, { data: { x: '2' } });
    await client.merge(`${path}/a`, { data: { x: '2' } });
    await client.delete(`${path}/a`);
    expect(watch.summary()).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
    const [, modified, deleted] = watch.events;
    expect(deleted!.object['data']).toEqual({ x: '2' });
    expect(Number(deleted!.object.metadata.resourceVersion)).toBe(
      Number(modified!.object.metadata.resourceVersion) + 1,
    );
    expect(cluster.revision).toBe(Number(deleted!.object.metadata.resourceVersion));
  });

  it('removing the last finalizer is one DELETED that still shows it', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    await client.post(path, configMap('f', {}, { finalizers: ['e.com/f'] }));
    const watch = await client.watch(`${path}?watch=1&resourceVersion=${cluster.revision}`);
    await client.delete(`${path}/f`);
    const patched = await client.merge(`${path}/f`, { metadata: { finalizers: null } });
    expect(patched.status).toBe(200);
    expect(patched.body.metadata.finalizers).toBeUndefined();
    expect(watch.summary()).toEqual(['MODIFIED f', 'DELETED f']);
    expect(watch.events[1]!.object.metadata.finalizers).toEqual(['e.com/f']);
  });

  it('sees selections: entering is ADDED, leaving is DELETED with the old content at the new revision', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    const watch = await client.watch(`${path}?watch=1&resourceVersion=${cluster.revision}&labelSelector=app%3Dx`);
    await client.post(path, configMap('b', { x: '1' }, { labels: { app: 'y' } }));
    await client.merge(`${path}/b`, { metadata: { labels: { app: 'x' } } });
    await client.merge(`${path}/b`, { data: { x: '2' } });
    const left = await client.merge(`${path}/b`, { metadata: { labels: { app: 'z' } } });
    await client.delete(`${path}/b`);
    expect(watch.summary()).toEqual(['ADDED b', 'MODIFIED b', 'DELETED b']);
    const { object } = watch.events[2]!;
    expect(object.metadata.labels).toEqual({ app: 'x' });
    expect(object.metadata.resourceVersion).toBe(left.body.metadata.resourceVersion);
  });

  it('without a version, or with 0, begins with what is there', async () => {
    await using plane = await prepared();
    const { client } = plane;
    await client.post(path, configMap('a'));
    for (const query of ['watch=true', 'watch=true&resourceVersion=0']) {
      const watch = await client.watch(`${path}?${query}`);
      expect(watch.summary()).toEqual(['ADDED a']);
    }
  });

  it('as WatchList: state, the bookmark that ends it, then changes', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    await client.post(path, configMap('a'));
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const watch = await client.watch(`${path}?${query}&allowWatchBookmarks=true`);
    const quiet = await client.watch(`${path}?${query}`);
    await client.post(path, configMap('b'));
    expect(watch.summary()).toEqual(['ADDED a', 'BOOKMARK', 'ADDED b']);
    expect(watch.events[1]!.object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: String(cluster.revision - 1),
        annotations: { 'k8s.io/initial-events-end': 'true' },
      },
    });
    expect(quiet.summary()).toEqual(['ADDED a', 'ADDED b']);
    const refused = await client.get(`${path}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true`);
    expect(refused.status).toBe(422);
    expect(refused.body.message).toBe(
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
  });

  it('from a version that is gone answers 410 inside a 200', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    await client.post(path, configMap('a'));
    const old = cluster.revision - 1;
    cluster.compact();
    const watch = await client.watch(`${path}?watch=true&resourceVersion=${old}`);
    expect(watch.status).toBe(200);
    expect(watch.events).toEqual([
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: `too old resource version: ${old} (${cluster.revision + 1})`,
          reason: 'Expired',
          code: 410,
        },
      },
    ]);
    expect(watch.ended).toBe(true);
  });

  it('of the future waits; one with a broken version is refused', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    const watch = await client.watch(`${path}?watch=true&resourceVersion=${cluster.revision + 1}`);
    await client.post(path, configMap('a'));
    await client.post(path, configMap('b'));
    expect(watch.summary()).toEqual(['ADDED b']);
    const refused = await client.get(`${path}?watch=true&resourceVersion=abc`);
    expect(refused.status).toBe(500);
    expect(refused.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      code: 500,
    });
  });

  it('ends after timeoutSeconds, with bookmarks every minute and before the end', async () => {
    await using plane = await prepared();
    const { client, clock } = plane;
    const watch = await client.watch(`${path}?watch=true&resourceVersion=1&timeoutSeconds=90&allowWatchBookmarks=true`);
    await clock.advance(59_000);
    expect(watch.summary()).toEqual([]);
    await clock.advance(2_000);
    expect(watch.summary()).toEqual(['BOOKMARK']);
    await clock.advance(28_000);
    expect(watch.summary()).toEqual(['BOOKMARK', 'BOOKMARK']);
    expect(watch.ended).toBe(false);
    await clock.advance(2_000);
    expect(watch.ended).toBe(true);
  });

  it('encodes an event once for all watchers of a kind', async () => {
    await using plane = await prepared();
    const { client } = plane;
    const one = await client.watch(`${path}?watch=true&resourceVersion=1`);
    const two = await client.watch(`/api/v1/configmaps?watch=true&resourceVersion=1`);
    one.chunks.length = 0;
    two.chunks.length = 0;
    await client.post(path, configMap('a'));
    expect(one.chunks).toHaveLength(1);
    expect(one.chunks[0]).toBe(two.chunks[0]);
  });

  it('as Table tells the columns once', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    const watch = await client.watch(`${path}?watch=true&resourceVersion=${cluster.revision}`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    });
    await client.post(path, configMap('a'));
    await client.post(path, configMap('b'));
    const [first, second] = watch.events.map(({ object }) => object as unknown as Record<string, unknown>);
    expect((first!['columnDefinitions'] as { name: string }[]).map(({ name }) => name)).toEqual([
      'Name',
      'Data',
      'Age',
    ]);
    expect(second!['columnDefinitions']).toBeNull();
    expect(second!['rows']).toMatchObject([{ object: { kind: 'PartialObjectMetadata', metadata: { name: 'b' } } }]);
  });

  it('through the deprecated path works, on a named GET it does not', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    const watch = await client.watch(`/api/v1/watch/namespaces/default/configmaps?resourceVersion=${cluster.revision}`);
    await client.post(path, configMap('a'));
    expect(watch.summary()).toEqual(['ADDED a']);
    expect((await client.get(`${path}/a?watch=true`)).body.kind).toBe('ConfigMap');
  });

  it('a request sent from inside an event never overtakes that event', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    const seen: string[] = [];
    cluster.transport.open(
      { method: 'GET', path: `${path}?watch=true&resourceVersion=${cluster.revision}` },
      {
        head: () => undefined,
        data(chunk) {
          if (chunk.includes('"first"')) void client.post(path, configMap('second'));
        },
        end: () => undefined,
        error: () => undefined,
      },
    );
    const second = await client.watch(`${path}?watch=true&resourceVersion=${cluster.revision}`);
    await client.post(path, configMap('first'));
    await client.get(`${path}/second`);
    seen.push(...second.summary());
    expect(seen).toEqual(['ADDED first', 'ADDED second']);
  });

  it('ends when the cluster stops', async () => {
    const plane = await prepared();
    const watch = await plane.client.watch(`${path}?watch=true`);
    await plane.cluster.stop();
    expect(watch.ended || watch.error !== undefined).toBe(true);
  });
});

describe('a watch whose reader is slow', () => {
  /** A reader that takes one line at a time. */
  async function slowReader(plane: Awaited<ReturnType<typeof prepared>>, query: string) {
    const { stream } = await plane.cluster.server.handle({ method: 'GET', path: `${path}?${query}`, headers: {} });
    const lines: string[] = [];
    let resume: (() => void) | undefined;
    let ended = false;
    stream!({
      write(chunk) {
        const { type, object } = JSON.parse(Buffer.from(chunk).toString()) as {
          type: string;
          object: { code?: number; metadata: { name?: string } };
        };
        lines.push(`${type} ${object.code ?? object.metadata.name ?? ''}`.trim());
        return false;
      },
      onceDrained(callback) {
        resume = callback;
      },
      end() {
        ended = true;
      },
    });
    return {
      lines,
      read() {
        const go = resume;
        resume = undefined;
        go?.();
      },
      get ended() {
        return ended;
      },
    };
  }

  it('waits, and then goes on where it was: first with what was there, then with what came since', async () => {
    await using plane = await prepared();
    const { client, clock } = plane;
    await client.post(path, configMap('a'));
    await client.post(path, configMap('b'));
    const reader = await slowReader(
      plane,
      'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=3600',
    );
    await client.post(path, configMap('c'));
    await client.delete(`${path}/a`);
    // A bookmark now would say that c and the end of a have been told.
    await clock.advance(120_000);
    expect(reader.lines).toEqual(['ADDED a']);
    for (let round = 0; round < 10; round += 1) reader.read();
    expect(reader.lines).toEqual(['ADDED a', 'ADDED b', 'BOOKMARK', 'ADDED c', 'DELETED a']);
  });

  it('is told when what it has missed is kept no more', async () => {
    await using plane = await prepared();
    const { client, cluster } = plane;
    const reader = await slowReader(plane, `watch=1&resourceVersion=${cluster.revision}`);
    for (const name of ['a', 'b', 'c']) await client.post(path, configMap(name));
    cluster.compact();
    reader.read();
    expect(reader.lines).toEqual(['ADDED a', 'ERROR 410']);
    expect(reader.ended).toBe(true);
  });
});
