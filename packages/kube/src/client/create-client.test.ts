import { getEventListeners } from 'node:events';

import { VirtualClock } from '@slipway/testing';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';

import { failure, scriptedTransport, type ScriptedAnswer } from '../../test/scripted-transport.ts';
import { ready } from '../conditions.ts';
import { kindOf, type ObjectOf } from '../kind.ts';
import { newObject } from '../kinds/new-object.ts';
import { ConfigMap, Namespace, Pod } from '../kinds/core-kinds.ts';
import { defineKind } from '../kinds/define-kind.ts';
import { Conditions } from '../kinds/schemas.ts';
import {
  isConflict,
  isConnectionFailure,
  isGone,
  isServerUnavailable,
  isTooManyRequests,
  isUnknownKind,
  type KubeError,
} from '../kube-error.ts';
import type { StreamHandler, TransportRequest } from '../transport.ts';
import { createClient, type ClientOptions } from './create-client.ts';

type Script = (request: TransportRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

function setUp(script: Script, options: Partial<ClientOptions> = {}, stream?: Parameters<typeof scriptedTransport>[1]) {
  const clock = new VirtualClock();
  const transport = scriptedTransport(script, stream);
  const client = createClient({ transport, fieldManager: 'test', clock, ...options });
  return { clock, transport, client };
}

const key = { namespace: 'a', name: 'b' };
const bodyOf = (request: TransportRequest | undefined) => JSON.parse(String(request?.body)) as unknown;
const named = (name: string) => ({ metadata: { name, namespace: 'a' } });
const notFound = failure(404, 'NotFound', { details: { name: 'b', kind: 'configmaps' } });

describe('get', () => {
  test('asks for one object', async () => {
    const { client, transport } = setUp(() => ({ body: { kind: 'ConfigMap', ...named('b') } }));
    expect(await client.get(ConfigMap, key, { resourceVersion: '0' })).toMatchObject(named('b'));
    expect(transport.lines).toEqual(['GET /api/v1/namespaces/a/configmaps/b?resourceVersion=0']);
  });

  test('an object that is not there is undefined, a kind that is not there is an error', async () => {
    expect(await setUp(() => notFound).client.get(ConfigMap, key)).toBeUndefined();
    for (const answer of [{ status: 404, body: '404 page not found' }, failure(404, 'NotFound')]) {
      const error = await setUp(() => answer)
        .client.get(ConfigMap, key)
        .catch((e: unknown) => e);
      expect(isUnknownKind(error)).toBe(true);
      expect((error as Error).message).toContain('is its CustomResourceDefinition installed');
    }
  });

  test.each([
    [{ name: 'b' }, 'the kind is namespaced, but the key has no namespace'],
    [{ namespace: 'a', name: '' }, 'the key has no name'],
    [{ namespace: 'a', name: '../secrets/x' }, 'is not the name of an object'],
    [{ namespace: '..', name: 'b' }, 'is not the name of an object'],
  ])('a key that is wrong leaves no request: %j', async (wrong, problem) => {
    const { client, transport } = setUp(() => ({}));
    await expect(client.get(ConfigMap, wrong)).rejects.toThrow(problem);
    expect(transport.requests).toHaveLength(0);
  });
});

describe('list', () => {
  const page = (names: string[], token?: string) => ({
    body: { metadata: { resourceVersion: '7', continue: token }, items: names.map(named) },
  });
  const collect = async (client: ReturnType<typeof setUp>['client'], options = {}) => {
    const names: string[] = [];
    for await (const item of client.list(ConfigMap, options)) names.push(item.metadata.name!);
    return names;
  };

  test('goes from page to page and fills in apiVersion and kind', async () => {
    const { client, transport } = setUp((_request, index) => (index === 0 ? page(['a', 'b'], 't') : page(['c'])));
    const items = [];
    for await (const item of client.list(ConfigMap, {
      namespace: 'a',
      labelSelector: { app: 'x' },
      resourceVersion: '0',
      resourceVersionMatch: 'NotOlderThan',
      limit: 2,
    }))
      items.push(item);
    expect(items.map((item) => item.metadata.name)).toEqual(['a', 'b', 'c']);
    expect(items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(transport.lines).toEqual([
      'GET /api/v1/namespaces/a/configmaps?labelSelector=app%3Dx&resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=2',
      'GET /api/v1/namespaces/a/configmaps?labelSelector=app%3Dx&limit=2&continue=t',
    ]);
  });

  test.each([
    ['the same', () => 't'],
    ['one of two in turn', (index: number) => `t${index % 2}`],
  ])(
    'a server that gives %s continue token again and again gets an error, not an endless list',
    async (_what, token) => {
      const { client, transport } = setUp((_request, index) => page(['a'], token(index)));
      await expect(collect(client)).rejects.toMatchObject({
        reason: 'BadAnswer',
        message: 'list ConfigMap.v1 does not end: the server gave the same continue token twice',
      });
      expect(transport.lines.length).toBeLessThanOrEqual(3);
    },
  );

  test('a server that gives empty pages without end gets an error', async () => {
    const { client } = setUp((_request, index) => page([], `t${index}`));
    await expect(collect(client)).rejects.toThrow('does not end: the server gave 100 pages without an object');
  });

  test('a continue token that has expired is replaced by the one in the answer', async () => {
    const script: Script = (request) => {
      if (request.path.includes('continue=old')) return failure(410, 'Expired', { metadata: { continue: 'new' } });
      return request.path.includes('continue=new') ? page(['c']) : page(['a', 'b'], 'old');
    };
    expect(await collect(setUp(script).client)).toEqual(['a', 'b', 'c']);
  });

  test('without such a token the rest comes from a whole new list, and nothing comes twice', async () => {
    const script: Script = (request) => {
      if (request.path.includes('continue=')) return failure(410, 'Expired');
      return request.path.includes('limit=') ? page(['a', 'b'], 'old') : page(['a', 'b', 'b2', 'c']);
    };
    expect(await collect(setUp(script).client)).toEqual(['a', 'b', 'b2', 'c']);
  });

  test('a first page that has expired is the caller’s to know', async () => {
    const error = await collect(setUp(() => failure(410, 'Expired')).client).catch((e: unknown) => e);
    expect(isGone(error)).toBe(true);
  });

  test('listPage without a limit asks for everything', async () => {
    const { client, transport } = setUp(() => ({ body: { metadata: { resourceVersion: '9' }, items: null } }));
    expect(await client.listPage(Namespace)).toEqual({ items: [], resourceVersion: '9' });
    expect(transport.lines).toEqual(['GET /api/v1/namespaces']);
  });
});

describe('watch', () => {
  const lines = (...events: unknown[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');
  const streamOf = (bytes: Buffer, end: (handler: StreamHandler) => void, step = bytes.length) =>
    ((_request, handler) => {
      handler.head(200, {});
      for (let start = 0; start < bytes.length; start += step) handler.data(bytes.subarray(start, start + step));
      end(handler);
    }) as Parameters<typeof scriptedTransport>[1];

  test('gives events, whatever the chunks look like', async () => {
    const bytes = Buffer.from(
      lines(
        { type: 'ADDED', object: { metadata: { name: 'größe-日本' } } },
        { type: 'BOOKMARK', object: { metadata: {} } },
      ),
    );
    for (const step of [1, 2, 7, bytes.length]) {
      const { client, transport } = setUp(
        () => ({}),
        {},
        streamOf(bytes, (handler) => handler.end(), step),
      );
      const seen = [];
      for await (const event of client.watch(ConfigMap, { resourceVersion: '5', timeoutSeconds: 9 })) seen.push(event);
      expect(seen).toMatchObject([
        { type: 'ADDED', object: { metadata: { name: 'größe-日本' } } },
        { type: 'BOOKMARK' },
      ]);
      expect(transport.lines).toEqual([
        'GET /api/v1/configmaps?watch=1&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=9',
      ]);
    }
  });

  test.each([
    ['an ERROR event', lines({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }), isGone],
    ['a line that is not JSON', 'nonsense\n', (e: unknown) => (e as KubeError).reason === 'BadAnswer'],
  ])('%s is thrown after the events before it', async (_name, tail, check) => {
    const bytes = Buffer.from(lines({ type: 'ADDED', object: {} }) + tail);
    const { client } = setUp(
      () => ({}),
      {},
      streamOf(bytes, (handler) => handler.end()),
    );
    const seen: string[] = [];
    const read = async () => {
      for await (const event of client.watch(ConfigMap)) seen.push(event.type);
    };
    const error = await read().catch((e: unknown) => e);
    expect(seen).toEqual(['ADDED']);
    expect(check(error)).toBe(true);
  });

  test('a refusal is thrown as what the server said', async () => {
    const { client } = setUp(
      () => ({}),
      {},
      (_request, handler) => {
        handler.head(410, {});
        handler.data(Buffer.from(JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })));
        handler.end();
      },
    );
    const iterator = client.watch(ConfigMap)[Symbol.asyncIterator]();
    const error = await iterator.next().catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 410, message: 'too old' });
  });

  test('an abort ends it with its reason and leaves no listener; leaving the loop ends it, too', async () => {
    const controller = new AbortController();
    const { client } = setUp(
      () => ({}),
      {},
      (_request, handler) => {
        handler.head(200, {});
        handler.data(Buffer.from(lines({ type: 'ADDED', object: {} }, { type: 'ADDED', object: {} })));
      },
    );
    for await (const event of client.watch(ConfigMap, { signal: controller.signal })) {
      expect(event.type).toBe('ADDED');
      break;
    }
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    const read = async () => {
      for await (const _event of client.watch(ConfigMap, { signal: controller.signal }))
        controller.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});

describe('writes', () => {
  test('say who writes, what kind of patch it is and how', async () => {
    const { client, transport } = setUp(() => ({ body: { kind: 'ConfigMap', ...named('b') } }));
    const object = newObject(ConfigMap, { ...named('b'), data: { x: 'y' } });
    await client.create(object, { dryRun: true, fieldValidation: 'Strict' });
    await client.update(object, { subresource: 'status' });
    await client.apply(object);
    await client.apply(object, { force: false, fieldManager: 'other' });
    await client.patch(ConfigMap, key, { type: 'strategic', body: {} });
    await client.patch(ConfigMap, key, { type: 'json', operations: [{ op: 'remove', path: '/data' }] });
    expect(transport.lines).toEqual([
      'POST /api/v1/namespaces/a/configmaps?fieldManager=test&dryRun=All&fieldValidation=Strict',
      'PUT /api/v1/namespaces/a/configmaps/b/status?fieldManager=test',
      'PATCH /api/v1/namespaces/a/configmaps/b?fieldManager=test&force=true',
      'PATCH /api/v1/namespaces/a/configmaps/b?fieldManager=other&force=false',
      'PATCH /api/v1/namespaces/a/configmaps/b?fieldManager=test',
      'PATCH /api/v1/namespaces/a/configmaps/b?fieldManager=test',
    ]);
    expect(transport.requests.map((request) => request.headers?.['content-type'])).toEqual([
      'application/json',
      'application/json',
      'application/apply-patch+yaml',
      'application/apply-patch+yaml',
      'application/strategic-merge-patch+json',
      'application/json-patch+json',
    ]);
  });

  test('apply with an owner', async () => {
    const { client, transport } = setUp(() => ({ body: { kind: 'ConfigMap', ...named('b') } }));
    const owner = newObject(Pod, { metadata: { name: 'p', namespace: 'a', uid: 'u' } });
    await client.apply(newObject(ConfigMap, named('b')), { owner });
    expect(bodyOf(transport.requests[0])).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Pod', name: 'p', uid: 'u', controller: true, blockOwnerDeletion: true }] },
    });
  });

  test('an object without namespace, kind or apiVersion is refused here', async () => {
    const { client, transport } = setUp(() => ({}));
    await expect(client.create(newObject(ConfigMap, { metadata: { name: 'b' } }))).rejects.toThrow(
      'metadata.namespace is missing',
    );
    await expect(client.apply({ apiVersion: 'v1', kind: '', metadata: { name: 'b' } })).rejects.toThrow('has no kind');
    await expect(client.apply({ apiVersion: '', kind: 'Pod', metadata: { name: 'b' } })).rejects.toThrow(
      'has no apiVersion',
    );
    await expect(client.create({ apiVersion: 'v1', kind: 'Pod' } as never)).rejects.toThrow('Pod has no metadata');
    expect(transport.requests).toHaveLength(0);
  });

  test('tell the cache, except for dry runs', async () => {
    const wrote: unknown[] = [];
    const cache: ClientOptions['cache'] = {
      wrote: (kind, k, outcome) => void wrote.push([kind.kind, k, outcome]),
      status: () => [],
    };
    const stored = { metadata: { name: 'b', namespace: 'a', uid: 'u', resourceVersion: '5' } };
    const script: Script = (request) =>
      request.method === 'DELETE'
        ? { body: { kind: 'Status', status: 'Success', details: { uid: 'u' } } }
        : { body: { kind: 'ConfigMap', ...stored } };
    const { client } = setUp(script, { cache });
    const object = newObject(ConfigMap, named('b'));
    await client.create(object);
    await client.apply(object, { dryRun: true });
    await client.delete(ConfigMap, key, { dryRun: true });
    await client.delete(ConfigMap, key);
    expect(wrote).toEqual([
      ['ConfigMap', key, { uid: 'u', resourceVersion: '5' }],
      ['ConfigMap', key, { uid: 'u', deleted: true }],
    ]);
  });
});

describe('delete', () => {
  test('says whether the object is gone, lingers or was not there', async () => {
    const answers: ScriptedAnswer[] = [
      { body: { kind: 'Status', status: 'Success', details: { uid: 'u' } } },
      { body: { kind: 'Pod', metadata: { uid: 'u', deletionTimestamp: 'x', deletionGracePeriodSeconds: 30 } } },
      { body: { kind: 'Pod', metadata: { uid: 'u', deletionTimestamp: 'x', finalizers: ['f'] } } },
      { body: { kind: 'Pod', metadata: { uid: 'u', deletionTimestamp: 'x', deletionGracePeriodSeconds: 0 } } },
      notFound,
    ];
    const { client, transport } = setUp((_request, index) => answers[index]!);
    const results = [];
    for (let index = 0; index < answers.length; index += 1)
      results.push(await client.delete(Pod, key, { propagationPolicy: 'Foreground', preconditions: { uid: 'u' } }));
    expect(results.map((result) => result?.state)).toEqual(['gone', 'terminating', 'terminating', 'gone', undefined]);
    expect(bodyOf(transport.requests[0])).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Foreground',
      preconditions: { uid: 'u' },
    });
  });

  test('a namespace with finalizers in its spec lingers', async () => {
    const body = {
      kind: 'Namespace',
      metadata: { uid: 'u', deletionTimestamp: 'x' },
      spec: { finalizers: ['kubernetes'] },
    };
    const { client } = setUp(() => ({ body }));
    expect(await client.delete(Namespace, { name: 'x' })).toEqual({ state: 'terminating', uid: 'u' });
  });

  test('deleteCollection sends selectors', async () => {
    const { client, transport } = setUp(() => ({ body: { kind: 'Status' } }));
    await client.deleteCollection(Pod, { namespace: 'a', labelSelector: 'x in (y,z)' });
    expect(transport.lines).toEqual(['DELETE /api/v1/namespaces/a/pods?labelSelector=x+in+%28y%2Cz%29']);
  });
});

describe('setStatus', () => {
  const Website = defineKind({
    group: 'example.com',
    version: 'v1',
    kind: 'Website',
    scope: 'Namespaced',
    spec: Type.Object({}),
    status: Type.Object({
      url: Type.Optional(Type.String()),
      phase: Type.Optional(Type.String()),
      detail: Type.Optional(Type.Record(Type.String(), Type.String())),
      observedGeneration: Type.Optional(Type.Integer()),
      conditions: Conditions,
    }),
  });
  type Website = ObjectOf<typeof Website>;
  const site = (status?: Website['status']): Website =>
    newObject(Website, {
      metadata: { name: 'b', namespace: 'a', uid: 'u', resourceVersion: '5', generation: 3 },
      spec: {},
      ...(status ? { status } : {}),
    });
  const stored = {
    url: 'x',
    phase: 'old',
    detail: { a: '1', b: '2' },
    observedGeneration: 3,
    conditions: [
      {
        type: 'Ready',
        status: 'False' as const,
        reason: 'Waiting',
        message: '',
        lastTransitionTime: '2020-01-01T00:00:00Z',
        observedGeneration: 3,
      },
    ],
  };
  const run = async (before: Website, status: Parameters<typeof go>[0], options = {}) => {
    const { client, transport } = setUp(() => ({ body: before }), { kinds: [Website] });
    await client.setStatus(before, status, options);
    return transport;
  };
  const go = (status: Partial<NonNullable<Website['status']>>) => status;

  test('writes what changes, with the generation and a time, and refuses a stale object', async () => {
    const transport = await run(site(), { url: 'x', conditions: [ready(true, 'Deployed', 'running')] });
    expect(transport.lines).toEqual(['PATCH /apis/example.com/v1/namespaces/a/websites/b/status?fieldManager=test']);
    expect(transport.requests[0]?.headers?.['content-type']).toBe('application/merge-patch+json');
    expect(bodyOf(transport.requests[0])).toEqual({
      metadata: { uid: 'u', resourceVersion: '5' },
      status: {
        url: 'x',
        observedGeneration: 3,
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'Deployed',
            message: 'running',
            lastTransitionTime: '2026-01-01T00:00:00Z',
            observedGeneration: 3,
          },
        ],
      },
    });
  });

  test('writes nothing when nothing would change', async () => {
    const transport = await run(site(stored), { phase: 'old', conditions: [ready(false, 'Waiting', '')] });
    expect(transport.requests).toHaveLength(0);
  });

  test('a time moves only when the status flips', async () => {
    const transport = await run(site(stored), { conditions: [ready(false, 'StillWaiting', 'soon')] });
    expect(bodyOf(transport.requests[0])).toMatchObject({
      status: { conditions: [{ reason: 'StillWaiting', lastTransitionTime: '2020-01-01T00:00:00Z' }] },
    });
  });

  test('fields are replaced whole, and removed with undefined', async () => {
    const transport = await run(site(stored), { detail: { a: '9' }, url: undefined }, { precondition: 'uid' });
    expect(bodyOf(transport.requests[0])).toEqual({
      metadata: { uid: 'u' },
      status: { url: null, detail: { a: '9', b: null } },
    });
  });

  test('a kind without observedGeneration does not get one', async () => {
    const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { ...site().metadata }, status: { a: 1 } };
    const { client, transport } = setUp(() => ({ body: thing }), {
      kinds: [kindOf('example.com', 'v1', 'Thing', 'things')],
    });
    await client.setStatus(thing, { b: 2 } as never);
    expect(bodyOf(transport.requests[0])).toMatchObject({ status: { b: 2 } });
    expect(Object.keys((bodyOf(transport.requests[0]) as { status: object }).status)).toEqual(['b']);
  });

  test('a kind the cache was asked for is known with its schema', async () => {
    const cache: ClientOptions['cache'] = {
      wrote: () => {},
      status: () => [{ kind: Website, synced: true, objects: 0 }],
    };
    const { client, transport } = setUp(() => ({ body: site() }), { cache });
    await client.setStatus(site(), { url: 'x' });
    expect(bodyOf(transport.requests[0])).toMatchObject({ status: { url: 'x', observedGeneration: 3 } });
  });
});

describe('finalizers', () => {
  const map = (finalizers: string[] | undefined, resourceVersion = '1', uid = 'u') =>
    newObject(ConfigMap, {
      metadata: { ...named('b').metadata, uid, resourceVersion, ...(finalizers ? { finalizers } : {}) },
    });

  test('are added with a patch that tests what was read', async () => {
    const { client, transport } = setUp(() => ({ body: map(['mine']) }));
    await client.addFinalizer(map(undefined), 'mine');
    await client.addFinalizer(map(['theirs']), 'mine');
    await client.addFinalizer(map(['theirs', 'mine']), 'mine');
    expect(transport.requests.map(bodyOf)).toEqual([
      [
        { op: 'test', path: '/metadata/uid', value: 'u' },
        { op: 'test', path: '/metadata/resourceVersion', value: '1' },
        { op: 'add', path: '/metadata/finalizers', value: ['mine'] },
      ],
      [
        { op: 'test', path: '/metadata/uid', value: 'u' },
        { op: 'test', path: '/metadata/finalizers', value: ['theirs'] },
        { op: 'add', path: '/metadata/finalizers/-', value: 'mine' },
      ],
    ]);
  });

  test('a list that changed meanwhile is read again; nobody else’s is dropped', async () => {
    const script: Script = (request, index) => {
      if (request.method === 'GET') return { body: map(['new', 'theirs', 'mine'], '2') };
      return index === 0 ? failure(422, 'Invalid') : { body: map(['new', 'theirs'], '3') };
    };
    const { client, transport, clock } = setUp(script);
    const removal = client.removeFinalizer(map(['theirs', 'mine']), 'mine');
    await clock.runUntil(() => transport.requests.length === 3);
    await removal;
    expect(bodyOf(transport.requests[2])).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'u' },
      { op: 'test', path: '/metadata/finalizers/2', value: 'mine' },
      { op: 'remove', path: '/metadata/finalizers/2' },
    ]);
  });

  test('an object that is gone, or has been replaced, is done with', async () => {
    await expect(setUp(() => notFound).client.removeFinalizer(map(['mine']), 'mine')).resolves.toBeUndefined();
    const replaced: Script = (request) =>
      request.method === 'GET' ? { body: map(['mine'], '9', 'other') } : failure(422, 'Invalid');
    await expect(setUp(replaced).client.removeFinalizer(map(['mine']), 'mine')).resolves.toBeUndefined();
    await expect(setUp(() => notFound).client.addFinalizer(map([]), 'mine')).rejects.toThrow('is gone');
  });

  test('a refusal that is no race is reported', async () => {
    const script: Script = (request) =>
      request.method === 'GET' ? { body: map([], '1') } : failure(422, 'Invalid', { message: 'bad name' });
    await expect(setUp(script).client.addFinalizer(map([]), 'Bad Name')).rejects.toThrow('bad name');
  });
});

describe('a busy server', () => {
  test.each([
    ['429 with Retry-After', { ...failure(429, 'TooManyRequests'), headers: { 'retry-after': '2' } }, 2_000],
    ['429 without', failure(429, 'TooManyRequests'), 1_000],
    ['503 with Retry-After', { ...failure(503, 'ServiceUnavailable'), headers: { 'retry-after': '3' } }, 3_000],
    ['retryAfterSeconds in the Status', failure(504, 'Timeout', { details: { retryAfterSeconds: 1 } }), 1_000],
  ])('%s: comes back after that time', async (_name, busy, waitMs) => {
    const { client, transport, clock } = setUp((_request, index) => (index === 0 ? busy : { body: named('b') }));
    const result = client.get(ConfigMap, key);
    await clock.advance(waitMs - 1);
    expect(transport.requests).toHaveLength(1);
    await clock.advance(1);
    expect(await result).toMatchObject(named('b'));
  });

  test('is given up on after maxRetryWaitMs, and not asked again without Retry-After', async () => {
    const busy = { ...failure(429, 'TooManyRequests'), headers: { 'retry-after': '10' } };
    const patient = setUp(() => busy, { maxRetryWaitMs: 25_000 });
    const outcome = patient.client.get(ConfigMap, key).catch((e: unknown) => e);
    await patient.clock.advance(60_000);
    expect(isTooManyRequests(await outcome)).toBe(true);
    expect(patient.transport.requests).toHaveLength(3);

    const down = setUp(() => failure(503, 'ServiceUnavailable'));
    const error = await down.client.get(ConfigMap, key).catch((e: unknown) => e);
    expect(isServerUnavailable(error)).toBe(true);
    expect(down.transport.requests).toHaveLength(1);
  });

  test('a wait can be aborted', async () => {
    const controller = new AbortController();
    const { client, clock } = setUp(() => failure(429, 'TooManyRequests'));
    const outcome = client.get(ConfigMap, key, { signal: controller.signal }).catch((e: unknown) => e);
    await clock.advance(10);
    controller.abort(new Error('enough'));
    expect(await outcome).toMatchObject({ message: 'enough' });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(clock.pending).toBe(0);
  });

  test('a read is repeated once when the connection breaks, a write never', async () => {
    const broken: Script = () => Promise.reject(new Error('socket hang up'));
    const reading = setUp((request, index) => (index === 0 ? broken(request, index) : { body: named('b') }));
    expect(await reading.client.get(ConfigMap, key)).toMatchObject(named('b'));
    const writing = setUp(broken);
    const error = await writing.client.create(newObject(ConfigMap, named('b'))).catch((e: unknown) => e);
    expect(isConnectionFailure(error)).toBe(true);
    expect(error).toMatchObject({ operation: 'create ConfigMap.v1 a/b', cause: { message: 'socket hang up' } });
    expect(writing.transport.requests).toHaveLength(1);
  });
});

describe('answers', () => {
  test('that are no Kubernetes answers are errors with what they said', async () => {
    const page = { status: 502, body: '<html>Bad   Gateway</html>', headers: { 'content-type': 'text/html' } };
    await expect(setUp(() => page).client.get(ConfigMap, key)).rejects.toMatchObject({
      code: 502,
      message: 'the server answered 502: <html>Bad Gateway</html>',
    });
    const broken = { status: 200, body: '{"kind":' };
    await expect(setUp(() => broken).client.get(ConfigMap, key)).rejects.toMatchObject({ reason: 'BadAnswer' });
  });

  test('warnings are handed on', async () => {
    const warnings: string[] = [];
    const { client } = setUp(
      () => ({ headers: { warning: ['299 - "a \\"b\\"", 299 - "c"', '299 - "d"'] }, body: named('b') }),
      { warn: (text, operation) => warnings.push(`${operation}: ${text}`) },
    );
    await client.get(ConfigMap, key);
    expect(warnings).toEqual(['a "b"', 'c', 'd'].map((text) => `get ConfigMap.v1 a/b: ${text}`));
  });

  test('instruments hear of calls, retries and failures', async () => {
    const heard: unknown[] = [];
    const { client, clock } = setUp((_request, index) => (index === 0 ? failure(429, 'x') : notFound), {
      instrument: {
        call: ({ verb, kind, namespace, name }) => {
          heard.push([verb, kind?.kind, namespace, name]);
          return ({ status, retries, durationMs, error }) =>
            heard.push([status, retries, durationMs, isConflict(error)]);
        },
      },
    });
    const outcome = client.get(ConfigMap, key);
    await clock.advance(1_000);
    await outcome;
    expect(heard).toEqual([
      ['get', 'ConfigMap', 'a', 'b'],
      [404, 1, 1_000, false],
    ]);
  });

  test('canI and serverVersion', async () => {
    const { client, transport } = setUp((request) =>
      request.path === '/version'
        ? { body: { major: '1', minor: '36', gitVersion: 'v1.36.0' } }
        : { body: { status: { allowed: true, reason: 'because' } } },
    );
    expect(await client.serverVersion()).toMatchObject({ minor: '36' });
    expect(await client.canI({ verb: 'get', resource: 'pods', namespace: 'a' })).toEqual({
      allowed: true,
      reason: 'because',
    });
    await client.canI({ verb: 'get', path: '/metrics' });
    expect(bodyOf(transport.requests[1])).toMatchObject({
      spec: { resourceAttributes: { verb: 'get', group: '', resource: 'pods', namespace: 'a' } },
    });
    expect(bodyOf(transport.requests[2])).toMatchObject({
      spec: { nonResourceAttributes: { verb: 'get', path: '/metrics' } },
    });
  });

  test('raw requests may answer with text', async () => {
    const { client, transport } = setUp(() => ({ body: 'ok' }));
    expect(await client.request({ method: 'GET', path: '/readyz', query: { verbose: true, x: undefined } })).toBe('ok');
    expect(transport.lines).toEqual(['GET /readyz?verbose=true']);
  });
});

describe('actingAs', () => {
  test('asks as that user, reads and writes alike, and leaves the client itself as it was', async () => {
    const { client, transport } = setUp(() => ({ body: named('b') }));
    const other = client.actingAs('system:serviceaccount:a:deployer');
    await other.get(ConfigMap, key);
    await other.apply({ apiVersion: 'v1', kind: 'ConfigMap', ...named('b') });
    await client.get(ConfigMap, key);
    expect(transport.requests.map(({ headers }) => headers?.['impersonate-user'])).toEqual([
      'system:serviceaccount:a:deployer',
      'system:serviceaccount:a:deployer',
      undefined,
    ]);
    expect(client.actingAs('system:serviceaccount:a:deployer')).toBe(other);
  });
});
