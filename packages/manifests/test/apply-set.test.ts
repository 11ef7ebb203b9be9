import { ConfigMap, createClient, Deployment, Namespace, type KubeObject, type Transport } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { annotations, memberLabel, refKey, refOf, waitingText } from '../src/index.ts';
import {
  actions,
  configMap,
  deployment,
  freshNamespace,
  gadgetDefinition,
  messages,
  testSet,
  writes,
} from './set-on-cluster.ts';

let cluster: TestCluster;
beforeAll(async () => void (cluster = await testCluster({ controllers: 'workloads' })));
afterAll(() => cluster[Symbol.asyncDispose]());

describe('a pass over a set', () => {
  test('creates, configures and leaves alone', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const first = await set.apply([configMap(namespace, 'a', { v: '1' }), configMap(namespace, 'b', { v: '1' })]);
    expect(first.state).toBe('applied');
    expect(actions(first)).toEqual({
      [`ConfigMap ${namespace}/a`]: 'created',
      [`ConfigMap ${namespace}/b`]: 'created',
    });
    const stored = await cluster.client.get(ConfigMap, { namespace, name: 'a' });
    expect(stored?.metadata.labels).toMatchObject({ [memberLabel]: 'true', [set.membership.label]: 'member' });
    expect(stored?.metadata.managedFields?.map((entry) => `${entry.manager} ${entry.operation}`)).toEqual([
      `${namespace}-set Apply`,
    ]);

    set.requests.length = 0;
    const second = await set.apply([configMap(namespace, 'a', { v: '2' }), configMap(namespace, 'b', { v: '1' })]);
    expect(actions(second)).toEqual({
      [`ConfigMap ${namespace}/a`]: 'configured',
      [`ConfigMap ${namespace}/b`]: 'unchanged',
    });
    expect(writes(set.requests)).toEqual([`PATCH /api/v1/namespaces/${namespace}/configmaps/a`]);
  });

  test('a member that is being deleted is waited for, then made again', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const held: KubeObject = {
      ...configMap(namespace, 'a'),
      metadata: { namespace, name: 'a', finalizers: ['example.com/hold'] },
    };
    await set.apply([held]);
    const { uid } = (await cluster.client.get(ConfigMap, { namespace, name: 'a' }))!.metadata;
    await cluster.client.delete(ConfigMap, { namespace, name: 'a' });
    const waiting = await set.apply([configMap(namespace, 'a'), deployment(namespace, 'web')]);
    expect(waiting.state).toBe('waiting');
    expect(actions(waiting)).toEqual({
      [`ConfigMap ${namespace}/a`]: 'waiting',
      [`Deployment.apps ${namespace}/web`]: 'pending',
    });
    expect(waitingText(waiting)).toContain(`ConfigMap ${namespace}/a: it is being deleted`);
    await cluster.client.removeFinalizer(
      (await cluster.client.get(ConfigMap, { namespace, name: 'a' }))!,
      'example.com/hold',
    );
    expect(actions(await set.apply([configMap(namespace, 'a')]))).toEqual({ [`ConfigMap ${namespace}/a`]: 'created' });
    expect((await cluster.client.get(ConfigMap, { namespace, name: 'a' }))?.metadata.uid).not.toBe(uid);
  });

  test('a refused member fails its wave, the others of the wave are applied, later waves are not', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const result = await set.apply([
      configMap(namespace, 'good'),
      configMap('no-such-namespace', 'bad'),
      deployment(namespace, 'later'),
    ]);
    expect(result).toMatchObject({ state: 'failed', wave: '50' });
    expect(actions(result)).toEqual({
      [`ConfigMap ${namespace}/good`]: 'created',
      'ConfigMap no-such-namespace/bad': 'failed',
      [`Deployment.apps ${namespace}/later`]: 'pending',
    });
    expect(messages(result)).toContain('add the Namespace to the set or create it first');
    expect(await cluster.client.get(Deployment, { namespace, name: 'later' })).toBeUndefined();
  });

  test('a kind nobody knows and a wrong scope are said before a wrong URL is asked', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const result = await set.apply([
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'homeless' } },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lost', namespace } },
    ]);
    // The Namespace is in an earlier wave and ends the pass.
    expect(messages(result)).toContain('metadata.namespace must not be set: the kind is cluster-scoped');
    const alone = await set.apply([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'homeless' } }]);
    expect(messages(alone)).toContain('metadata.namespace is required: the kind is namespaced');
    const unknown = await set.apply([
      { apiVersion: 'example.org/v1', kind: 'Nothing', metadata: { namespace, name: 'n' } },
    ]);
    expect(unknown.state).toBe('failed');
    expect(messages(unknown)).toContain('add its CustomResourceDefinition to the set or install it first');
    expect(await cluster.client.get(Namespace, { name: 'lost' })).toBeUndefined();
  });

  test('preflight finds the mistake in the last wave before the first object is written', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const broken = deployment(namespace, 'web');
    (broken['spec'] as { replicas: unknown }).replicas = -1;
    const result = await set.apply([configMap(namespace, 'a'), broken], { preflight: true });
    expect(result).toMatchObject({ state: 'failed', wave: 'preflight' });
    expect(actions(result)).toEqual({
      [`ConfigMap ${namespace}/a`]: 'pending',
      [`Deployment.apps ${namespace}/web`]: 'failed',
    });
    expect(messages(result)).toContain('spec.replicas');
    expect(writes(set.requests)).toEqual([]);
    expect(await cluster.client.get(ConfigMap, { namespace, name: 'a' })).toBeUndefined();
  });

  test('preflight asks only about members that are not as they should be', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const members = (value: string) =>
      Array.from({ length: 8 }, (_, i) => configMap(namespace, `m${i}`, { v: i === 3 ? value : 'same' }));
    await set.apply(members('1'), { preflight: true });
    set.requests.length = 0;
    await set.apply(members('2'), { preflight: true });
    const path = `/api/v1/namespaces/${namespace}/configmaps/m3`;
    expect(set.requests.filter((request) => !request.startsWith('GET '))).toEqual([
      `PATCH ${path} (dry run)`,
      `PATCH ${path}`,
    ]);
  });

  test('a pass over one changed member looks at that member only', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const members = ['a', 'b', 'c', 'd', 'e'].map((name) => configMap(namespace, name, { v: '1' }));
    await set.apply(members);
    await cluster.client.delete(ConfigMap, { namespace, name: 'c' });
    await cluster.client.delete(ConfigMap, { namespace, name: 'd' });
    set.requests.length = 0;
    const result = await set.apply(members, { only: new Set([refKey(refOf(members[2]!))]) });
    expect(actions(result)).toEqual({ [`ConfigMap ${namespace}/c`]: 'created' });
    expect(set.requests.filter((request) => !/\/(api|apis)$/.test(request))).toEqual([
      `GET /api/v1/namespaces/${namespace}/configmaps/c`,
      `PATCH /api/v1/namespaces/${namespace}/configmaps/c`,
    ]);
    expect(await cluster.client.get(ConfigMap, { namespace, name: 'd' })).toBeUndefined();
  });
});

describe('the order of a set', () => {
  test('a definition and an object of it, in a namespace of the set, work at the first try', async () => {
    const group = 'first-try.example.com';
    const set = testSet(cluster, 'first-try');
    const objects: KubeObject[] = [
      { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { namespace: 'first-try', name: 'g' }, spec: { size: 1 } },
      gadgetDefinition(group),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'first-try' } },
    ];
    const states: string[] = [];
    const done = await cluster.eventually('the set is applied', async () => {
      const result = await set.apply(objects);
      states.push(result.state);
      return result.state === 'applied' ? result : undefined;
    });
    expect(states).not.toContain('failed');
    expect(done.members).toHaveLength(3);
  });

  test('a member that asks for a wave is applied when those before are healthy, and not when one has failed', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const migrate = { ...deployment(namespace, 'first') };
    const after = configMap(namespace, 'after', {}, { [annotations.wave]: '200' });
    const waiting = await set.apply([migrate, after]);
    expect(waiting).toMatchObject({ state: 'waiting', wave: '80' });
    expect(waitingText(waiting)).toBe(`Deployment ${namespace}/first: its controller has not seen it yet`);
    expect(await cluster.client.get(ConfigMap, { namespace, name: 'after' })).toBeUndefined();
    await cluster.eventually(
      'the Deployment is rolled out and the next wave follows',
      async () => (await set.apply([migrate, after])).state === 'applied',
    );
    expect(await cluster.client.get(ConfigMap, { namespace, name: 'after' })).toBeDefined();
  });

  test('without asking, nobody waits for health, but the pass is not through before all are healthy', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const stuck = deployment(namespace, 'stuck', { nodeSelector: { 'example.com/nowhere': 'yes' } });
    const ingress: KubeObject = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { namespace, name: 'after' },
      spec: { defaultBackend: { service: { name: 'stuck', port: { number: 80 } } } },
    };
    const result = await set.apply([stuck, ingress]);
    expect(result).toMatchObject({ state: 'waiting', wave: '80' });
    expect(new Set(Object.values(actions(result)))).toEqual(new Set(['created']));
  });

  test('a roll-out that exceeds its deadline shows as failed and holds the next wave', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const stuck = deployment(namespace, 'stuck', { nodeSelector: { 'example.com/nowhere': 'yes' } });
    (stuck['spec'] as { progressDeadlineSeconds: number }).progressDeadlineSeconds = 1;
    const after = configMap(namespace, 'after', {}, { [annotations.wave]: '200' });
    const result = await cluster.eventually('the roll-out has failed', async () => {
      const pass = await set.apply([stuck, after]);
      return pass.members.some((member) => member.health?.status === 'Failed') ? pass : undefined;
    });
    expect(result.state).toBe('waiting');
    expect(waitingText(result)).toContain('roll-out exceeded its deadline');
    expect(await cluster.client.get(ConfigMap, { namespace, name: 'after' })).toBeUndefined();
    // The same set, with nothing to wait for, goes on.
    const ungated = await set.apply([stuck, after], { gate: () => false });
    expect(ungated.state).toBe('applied');
  });
});

describe('a kind that is established and not served yet', () => {
  /** The cluster through a server that has not begun to serve Gadgets. */
  function unserved(group: string): Transport {
    const inner = cluster.transport();
    const answer = { status: 404, headers: {}, body: Buffer.from('404 page not found\n') };
    return {
      send: (request, signal) =>
        request.path.startsWith(`/apis/${group}/v1/namespaces/`)
          ? Promise.resolve(answer)
          : inner.send(request, signal),
      open: (request, handler) => inner.open(request, handler),
      close: () => inner.close(),
    };
  }

  test('is waited for when the set defines it, and worth another try when somebody else does', async () => {
    const group = 'unserved.example.com';
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { namespace, name: 'g' } };
    const definition = gadgetDefinition(group);
    await cluster.eventually(
      'the kind is served',
      async () => (await set.apply([definition, gadget])).state === 'applied',
    );
    const client = createClient({ transport: unserved(group), fieldManager: 'test', clock: cluster.clock });
    const own = await set.apply([definition, gadget], { client });
    expect(own.state).toBe('waiting');
    expect(actions(own)[`Gadget.${group} ${namespace}/g`]).toBe('waiting');
    const foreign = await set.apply([gadget], { client });
    expect(foreign.members).toMatchObject([{ action: 'failed', retriable: true }]);
  });
});

describe('a member the server cannot judge', () => {
  const guard = (group: string): KubeObject => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: group },
    webhooks: [
      {
        name: `guard.${group}`,
        // Nobody listens there.
        clientConfig: { url: 'https://127.0.0.1:1/' },
        rules: [{ apiGroups: [group], apiVersions: ['v1'], resources: ['gadgets'], operations: ['CREATE', 'UPDATE'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Fail',
      },
    ],
  });

  test('waits while something of the set is still starting, and has failed when nothing is', async () => {
    const group = 'guarded.example.com';
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { namespace, name: 'g' } };
    const backend = deployment(namespace, 'backend', { nodeSelector: { 'example.com/nowhere': 'yes' } });
    const members = [gadgetDefinition(group), guard(group), gadget];
    const starting = await cluster.eventually('the webhook is asked', async () => {
      const result = await set.apply([...members, backend]);
      return messages(result).includes('webhook') ? result : undefined;
    });
    expect(starting.state).toBe('waiting');
    expect(actions(starting)[`Gadget.${group} ${namespace}/g`]).toBe('waiting');
    const alone = await set.apply(members);
    expect(alone.state).toBe('failed');
    expect(alone.members.find((member) => member.action === 'failed')).toMatchObject({ retriable: true });
    expect(messages(alone)).toContain('see whether its service runs; it will be tried again');
  });
});

describe('members that are only ensured to exist', () => {
  test('keep what others make of them, carry the marks, and their owner references follow', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const owners = await Promise.all(
      ['one', 'two'].map(async (name) => await cluster.client.create(configMap(namespace, name))),
    );
    const reference = (index: number) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owners[index]!.metadata.name!,
      uid: owners[index]!.metadata.uid!,
    });
    const seed = (value: string, owner: number): KubeObject => ({
      ...configMap(namespace, 'seed', { value }),
      metadata: {
        namespace,
        name: 'seed',
        annotations: { [annotations.mode]: 'EnsureExists' },
        ownerReferences: [reference(owner)],
      },
    });
    expect(actions(await set.apply([seed('mine', 0)]))).toEqual({ [`ConfigMap ${namespace}/seed`]: 'created' });
    await cluster.client.patch(
      ConfigMap,
      { namespace, name: 'seed' },
      { type: 'merge', body: { data: { value: 'theirs', more: 'yes' } } },
    );
    expect(actions(await set.apply([seed('mine too', 0)]))).toEqual({ [`ConfigMap ${namespace}/seed`]: 'kept' });
    set.requests.length = 0;
    await set.apply([seed('mine too', 1)]);
    const now = await cluster.client.get(ConfigMap, { namespace, name: 'seed' });
    expect(now?.data).toEqual({ value: 'theirs', more: 'yes' });
    expect(now?.metadata.labels?.[set.membership.label]).toBe('member');
    // What the first write set goes on belonging to it; the new owner is there besides.
    expect(now?.metadata.ownerReferences?.map((owner) => owner.name)).toContain('two');
    set.requests.length = 0;
    expect(actions(await set.apply([seed('mine too', 1)]))).toEqual({ [`ConfigMap ${namespace}/seed`]: 'kept' });
    expect(writes(set.requests)).toEqual([]);
  });
});

describe('immutable fields', () => {
  test('a change is refused with what to do about it, and done when annotated', async () => {
    const group = 'immutable.example.com';
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const gadget = (fixed: string, extra: Record<string, string> = {}): KubeObject => ({
      apiVersion: `${group}/v1`,
      kind: 'Gadget',
      metadata: { namespace, name: 'g', annotations: extra },
      spec: { fixed },
    });
    await cluster.eventually(
      'the first one is there',
      async () => (await set.apply([gadgetDefinition(group), gadget('one')])).state === 'applied',
    );
    const refused = await set.apply([gadget('two')]);
    expect(refused.state).toBe('failed');
    expect(messages(refused)).toContain('manifests.slipway.dev/recreate: enabled');
    const kind = await cluster.client.resolve(`${group}/v1`, 'Gadget');
    const before = await cluster.client.get(kind, { namespace, name: 'g' });
    expect(before?.['spec']).toEqual({ fixed: 'one' });
    const recreated = await set.apply([gadget('two', { [annotations.recreate]: 'enabled' })]);
    expect(actions(recreated)).toEqual({ [`Gadget.${group} ${namespace}/g`]: 'recreated' });
    const after = await cluster.client.get(kind, { namespace, name: 'g' });
    expect(after?.['spec']).toEqual({ fixed: 'two' });
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  });

  test('an immutable ConfigMap of a built-in kind is recognised too', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const sealed = (v: string): KubeObject => ({
      ...configMap(namespace, 'sealed', { v }, { [annotations.recreate]: 'enabled' }),
      immutable: true,
    });
    await set.apply([sealed('1')]);
    expect(actions(await set.apply([sealed('2')]))).toEqual({ [`ConfigMap ${namespace}/sealed`]: 'recreated' });
  });
});

describe('drift', () => {
  const edit = (namespace: string, name: string) =>
    cluster.client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { data: { v: 'edited' } } });

  test('is corrected, reported or ignored, as the member says', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const members = [
      configMap(namespace, 'correct', { v: '1' }),
      configMap(namespace, 'warn', { v: '1' }, { [annotations.drift]: 'Warn' }),
      configMap(namespace, 'ignore', { v: '1' }, { [annotations.drift]: 'Ignore' }),
    ];
    await set.apply(members);
    for (const name of ['correct', 'warn', 'ignore']) await edit(namespace, name);
    const result = await set.apply(members);
    expect(result.state).toBe('applied');
    expect(actions(result)).toEqual({
      [`ConfigMap ${namespace}/correct`]: 'configured',
      [`ConfigMap ${namespace}/warn`]: 'drifted',
      [`ConfigMap ${namespace}/ignore`]: 'unchanged',
    });
    const values = await Promise.all(
      ['correct', 'warn', 'ignore'].map(
        async (name) => (await cluster.client.get(ConfigMap, { namespace, name }))?.data?.['v'],
      ),
    );
    expect(values).toEqual(['1', 'edited', 'edited']);
    expect(messages(result)).toContain('its drift policy is Warn');
  });

  test('a changed manifest reaches members whose drift is only reported or ignored', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const members = (v: string) =>
      ['Warn', 'Ignore'].map((policy) =>
        configMap(namespace, policy.toLowerCase(), { v }, { [annotations.drift]: policy }),
      );
    await set.apply(members('1'));
    await edit(namespace, 'warn');
    await set.apply(members('1'));
    expect(actions(await set.apply(members('2')))).toEqual({
      [`ConfigMap ${namespace}/warn`]: 'configured',
      [`ConfigMap ${namespace}/ignore`]: 'configured',
    });
    for (const name of ['warn', 'ignore'])
      expect((await cluster.client.get(ConfigMap, { namespace, name }))?.data).toEqual({ v: '2' });
    expect(Object.values(actions(await set.apply(members('2'))))).toEqual(['unchanged', 'unchanged']);
  });
});
