import { Deployment, type KubeObject } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { withMembership } from '../src/index.ts';
import { isAppliedAlready } from '../src/owned-fields.ts';
import { actions, configMap, deployment, memory, testSet, writes } from './set-on-cluster.ts';

const namespace = 'default';
let cluster: TestCluster;
// Without controllers: they would change the objects while they are looked at.
beforeAll(async () => void (cluster = await testCluster({ controllers: 'none' })));
afterAll(() => cluster[Symbol.asyncDispose]());

describe('a set with nothing to do', () => {
  test('costs one list a kind and no write, also in a process that has just started', async () => {
    const set = testSet(cluster, 'set');
    const members = [
      ...Array.from({ length: 8 }, (_, i) => configMap(namespace, `m${i}`, { i: String(i) })),
      ...Array.from({ length: 4 }, (_, i) => deployment(namespace, `d${i}`)),
    ];
    await set.apply(members, { gate: () => false });
    set.requests.length = 0;
    const again = await set.apply(members, { gate: () => false });
    expect(new Set(Object.values(actions(again)))).toEqual(new Set(['unchanged']));
    expect(set.requests).toEqual([
      `GET /api/v1/namespaces/${namespace}/configmaps`,
      `GET /apis/apps/v1/namespaces/${namespace}/deployments`,
    ]);
  });

  test('values the server normalises cost one question, then the memo knows', async () => {
    const set = testSet(cluster, 'set');
    const pod = (cpu: string): Record<string, unknown> => ({
      containers: [{ name: 'main', image: 'main:1', resources: { limits: { cpu, memory: '1073741824' } } }],
    });
    const members = [deployment(namespace, 'web', pod('1000m')), configMap(namespace, 'empty', {})];
    const memo = memory();
    expect((await set.apply(members, { gate: () => false, memo })).state).toBe('applied');
    for (let pass = 0; pass < 2; pass += 1) {
      set.requests.length = 0;
      await set.apply(members, { gate: () => false, memo });
      expect(writes(set.requests)).toEqual([]);
    }
    // A new process does not know and asks once.
    const fresh = memory();
    set.requests.length = 0;
    const asked = await set.apply(members, { gate: () => false, memo: fresh });
    expect(new Set(Object.values(actions(asked)))).toEqual(new Set(['unchanged']));
    expect(writes(set.requests).length).toBeGreaterThan(0);
    set.requests.length = 0;
    await set.apply(members, { gate: () => false, memo: fresh });
    expect(writes(set.requests)).toEqual([]);
    // The status may move as it likes.
    await cluster.client.patch(
      Deployment,
      { namespace, name: 'web' },
      { type: 'merge', body: { status: { replicas: 1, observedGeneration: 1 } } },
      { subresource: 'status', fieldManager: 'controller' },
    );
    set.requests.length = 0;
    await set.apply(members, { gate: () => false, memo: fresh });
    expect(writes(set.requests)).toEqual([]);
    // Another value is another question.
    const changed = await set.apply([deployment(namespace, 'web', pod('2')), members[1]!], {
      gate: () => false,
      memo: fresh,
    });
    expect(actions(changed)[`Deployment.apps ${namespace}/web`]).toBe('configured');
  });
});

/** What somebody else may do to a Deployment. */
const edits = fc.oneof(
  fc.record({ replicas: fc.integer({ min: 0, max: 3 }) }).map((spec) => ({ spec })),
  fc
    .dictionary(
      fc.constantFrom('app', 'tier', 'manifests.slipway.dev/member'),
      fc.constantFrom('web', 'x', null as never),
      {
        maxKeys: 2,
      },
    )
    .map((labels) => ({ metadata: { labels } })),
  fc.constantFrom('main:1', 'main:2').map((image) => ({
    spec: { template: { spec: { containers: [{ name: 'main', image }] } } },
  })),
  fc.constantFrom('100m', '0.1', '0.2').map((cpu) => ({
    spec: { template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } } },
  })),
  fc.constantFrom('one', 'two').map((value) => ({
    spec: { template: { spec: { containers: [{ name: 'main', env: [{ name: 'MODE', value }] }] } } },
  })),
  fc.constantFrom(8080, 9090).map((containerPort) => ({
    spec: { template: { spec: { containers: [{ name: 'main', ports: [{ containerPort, protocol: 'TCP' }] }] } } },
  })),
  fc.constant({
    spec: {
      template: {
        spec: { containers: [{ name: 'side', image: 'side:1' }] },
      },
    },
  }),
  fc.constant({ spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } }),
  fc.constantFrom('web', 'x').map((value) => ({ spec: { template: { metadata: { annotations: { value } } } } })),
);

const configs = fc.record({
  replicas: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
  env: fc.option(fc.constantFrom('one', 'two'), { nil: undefined }),
  port: fc.option(fc.constantFrom(8080, 9090), { nil: undefined }),
  cpu: fc.option(fc.constantFrom('100m', '0.1'), { nil: undefined }),
  annotated: fc.boolean(),
});

describe('what is taken for applied', () => {
  test(
    'is: whatever others do to an object, an apply of the same would change nothing (property)',
    { timeout: 300_000 },
    async () => {
      const { client } = cluster;
      const kind = await client.resolve('apps/v1', 'Deployment');
      let taken = 0;
      let round = 0;
      const property = fc.asyncProperty(
        configs,
        fc.array(edits, { maxLength: 3 }),
        fc.boolean(),
        async (wish, changes, owned) => {
          round += 1;
          const name = `random-${round}`;
          const set = testSet(cluster, 'set');
          const config = withMembership(configured(namespace, name, wish), set.membership);
          await client.apply(config, { fieldManager: owned ? 'set' : 'stranger', force: true });
          for (const body of changes) {
            // An edit that the server refuses is none.
            await client
              .patch(kind, { namespace, name }, { type: 'strategic', body }, { fieldManager: 'somebody' })
              .catch(() => undefined);
          }
          const live = (await client.get(kind, { namespace, name }))!;
          const claimed = isAppliedAlready(config, live, 'set');
          if (claimed) {
            taken += 1;
            const wanted = await client.apply(config, { fieldManager: 'set', force: true, dryRun: true });
            expect(withoutTimes(wanted)).toEqual(withoutTimes(live));
          }
          if (owned && changes.length === 0 && wish.cpu !== '0.1') expect(claimed).toBe(true);
          await client.delete(kind, { namespace, name });
        },
      );
      await fc.assert(property, { numRuns: 120 });
      // Else the property says nothing.
      expect(taken).toBeGreaterThan(10);
    },
  );
});

function configured(
  namespace: string,
  name: string,
  wish: { replicas?: number; env?: string; port?: number; cpu?: string; annotated: boolean },
): KubeObject {
  const container = {
    name: 'main',
    image: 'main:1',
    ...(wish.env ? { env: [{ name: 'MODE', value: wish.env }] } : {}),
    ...(wish.port ? { ports: [{ containerPort: wish.port }] } : {}),
    ...(wish.cpu ? { resources: { requests: { cpu: wish.cpu } } } : {}),
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name, ...(wish.annotated ? { labels: { tier: 'web' } } : {}) },
    spec: {
      ...(wish.replicas === undefined ? {} : { replicas: wish.replicas }),
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } },
    },
  };
}

/** The object as two reads of an unchanged one agree on. */
function withoutTimes(object: KubeObject): unknown {
  const { metadata, status: _status, ...rest } = object as KubeObject & { status?: unknown };
  const { resourceVersion: _version, managedFields, ...meta } = metadata;
  const owners = (managedFields ?? [])
    .filter((entry) => entry.subresource === undefined)
    .map(({ time: _time, ...entry }) => entry);
  return { ...rest, metadata: { ...meta, managedFields: owners } };
}
