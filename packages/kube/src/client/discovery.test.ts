import { VirtualClock } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { failure, scriptedTransport, type ScriptedAnswer } from '../../test/scripted-transport.ts';
import { isUnknownKind } from '../kube-error.ts';
import { createClient } from './create-client.ts';

const aggregated = (groups: Record<string, Record<string, [kind: string, plural: string][]>>): ScriptedAnswer => ({
  body: {
    kind: 'APIGroupDiscoveryList',
    items: Object.entries(groups).map(([name, versions]) => ({
      metadata: { name },
      versions: Object.entries(versions).map(([version, kinds]) => ({
        version,
        resources: kinds.map(([kind, resource]) => ({
          resource,
          responseKind: { kind },
          scope: 'Namespaced',
          singularResource: kind.toLowerCase(),
          verbs: ['get'],
          subresources: [{ subresource: 'status' }],
        })),
      })),
    })),
  },
});

const legacy = (...kinds: [kind: string, plural: string][]): ScriptedAnswer => ({
  body: {
    kind: 'APIResourceList',
    resources: kinds.flatMap(([kind, name]) => [
      { name, kind, namespaced: false, singularName: '', verbs: ['get'] },
      { name: `${name}/scale`, kind: 'Scale', namespaced: false, singularName: '', verbs: ['get'] },
    ]),
  },
});

function setUp(answers: Record<string, ScriptedAnswer>) {
  const clock = new VirtualClock();
  const transport = scriptedTransport(
    (request) => answers[request.path] ?? { status: 404, body: '404 page not found' },
  );
  return { answers, clock, transport, client: createClient({ transport, fieldManager: 'test', clock }) };
}

describe('discovery', () => {
  test('built-in kinds need no request', async () => {
    const { client, transport } = setUp({});
    expect(await client.resolve('apps/v1', 'Deployment')).toMatchObject({ plural: 'deployments' });
    expect(transport.requests).toHaveLength(0);
  });

  test('two requests tell everything, for all who ask at once', async () => {
    const { client, transport } = setUp({
      '/api': aggregated({ '': { v1: [['Pod', 'pods']] } }),
      '/apis': aggregated({ 'example.com': { v2: [['Thing', 'things']], v1: [['Thing', 'things']] } }),
    });
    const [one, two] = await Promise.all([
      client.resolve('example.com/v1', 'Thing'),
      client.resolveGroupKind('example.com', 'Thing'),
    ]);
    expect(one).toEqual({
      group: 'example.com',
      version: 'v1',
      kind: 'Thing',
      plural: 'things',
      scope: 'Namespaced',
      apiVersion: 'example.com/v1',
    });
    expect(two.version).toBe('v2');
    expect(transport.lines).toEqual(['GET /api', 'GET /apis']);
    expect(
      (await client.discover()).map((r) => `${r.kind}.${r.version} ${r.preferred} ${r.subresources.join()}`),
    ).toEqual(['Pod.v1 true status', 'Thing.v2 true status', 'Thing.v1 false status']);
    expect(transport.requests).toHaveLength(2);
  });

  test('a server without aggregated discovery is asked group by group; one that is down hides only itself', async () => {
    const { client } = setUp({
      '/api': { body: { kind: 'APIVersions', versions: ['v1'] } },
      '/api/v1': legacy(['Pod', 'pods']),
      '/apis': {
        body: {
          kind: 'APIGroupList',
          groups: [
            {
              name: 'example.com',
              preferredVersion: { version: 'v1' },
              versions: [{ version: 'v1' }, { version: 'v1beta1' }],
            },
            { name: 'down.io', preferredVersion: { version: 'v1' }, versions: [{ version: 'v1' }] },
          ],
        },
      },
      '/apis/example.com/v1': legacy(['Thing', 'things']),
      '/apis/example.com/v1beta1': legacy(['Thing', 'things']),
      '/apis/down.io/v1': failure(503, 'ServiceUnavailable'),
    });
    expect(await client.resolveGroupKind('example.com', 'Thing')).toMatchObject({ version: 'v1', scope: 'Cluster' });
    const things = (await client.discover()).filter((r) => r.kind === 'Thing');
    expect(things).toMatchObject([
      { version: 'v1', preferred: true, singular: 'thing', subresources: ['scale'] },
      { version: 'v1beta1', preferred: false },
    ]);
    expect((await client.discover()).some((r) => r.kind === 'Scale')).toBe(false);
  });

  test.each([[[true, {}]], ['v1/../v2'], [null]])(
    'a version %j that cannot be one is a bad answer, not bad input',
    async (version) => {
      const { client } = setUp({ '/api': { body: { versions: [version] } }, '/apis': { body: {} } });
      await expect(client.discover()).rejects.toMatchObject({ reason: 'BadAnswer', operation: 'discover /api' });
    },
  );

  test('a version that cannot be asked for is left out of what is served', async () => {
    const { client } = setUp({
      '/api': aggregated({}),
      '/apis': aggregated({ 'example.com': { 'v1?x': [['Thing', 'things']], v1: [['Thing', 'things']] } }),
    });
    expect((await client.discover()).map(({ version }) => version)).toEqual(['v1']);
  });

  test('a CRD that appears is found, and a missing one is not asked for more than once a second', async () => {
    const { client, transport, clock, answers } = setUp({ '/api': aggregated({}), '/apis': aggregated({}) });
    const resolve = () => client.resolve('example.com/v1', 'Thing').catch((error: unknown) => error);
    const missing = await resolve();
    expect(isUnknownKind(missing)).toBe(true);
    expect((missing as Error).message).toContain('the server does not serve Thing in example.com/v1');
    await resolve();
    expect(transport.lines).toEqual(['GET /api', 'GET /apis', 'GET /apis/example.com/v1']);
    answers['/apis/example.com/v1'] = legacy(['Thing', 'things']);
    await resolve();
    expect(transport.requests).toHaveLength(3);
    await clock.advance(1_000);
    expect(await resolve()).toMatchObject({ plural: 'things' });
    expect(transport.requests).toHaveLength(4);
  });

  test('resolveGroupKind heals likewise', async () => {
    const { client, clock, answers } = setUp({ '/api': aggregated({}), '/apis': aggregated({}) });
    await expect(client.resolveGroupKind('example.com', 'Thing')).rejects.toThrow('Thing in group "example.com"');
    answers['/apis'] = aggregated({ 'example.com': { v1: [['Thing', 'things']] } });
    await expect(client.resolveGroupKind('example.com', 'Thing')).rejects.toThrow('Thing in group "example.com"');
    await clock.advance(1_000);
    expect(await client.resolveGroupKind('example.com', 'Thing')).toMatchObject({ plural: 'things' });
  });

  test('a kind that is gone is forgotten when a request finds out', async () => {
    const { client, transport, answers } = setUp({
      '/api': aggregated({}),
      '/apis': aggregated({ 'example.com': { v1: [['Thing', 'things']] } }),
    });
    const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'x', namespace: 'a' } };
    for (const write of [client.update(thing), client.apply(thing)])
      expect(isUnknownKind(await write.catch((e: unknown) => e))).toBe(true);
    answers['/apis/example.com/v1'] = legacy(['Thing', 'newthings']);
    expect(await client.resolve('example.com/v1', 'Thing')).toMatchObject({ plural: 'newthings', scope: 'Cluster' });
    expect(transport.lines.at(-1)).toBe('GET /apis/example.com/v1');
  });

  test('whoever gives up waiting does not spoil it for the others', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const transport = scriptedTransport(async (request) => {
      await gate;
      return request.path === '/apis' ? aggregated({ 'example.com': { v1: [['Thing', 'things']] } }) : aggregated({});
    });
    const client = createClient({ transport, fieldManager: 'test', clock: new VirtualClock() });
    const controller = new AbortController();
    const impatient = client.discover({ signal: controller.signal }).catch((error: unknown) => error);
    const patient = client.discover();
    controller.abort(new Error('enough'));
    expect(await impatient).toMatchObject({ message: 'enough' });
    release();
    expect(await patient).toHaveLength(1);
  });
});
