import { ConfigMap, createClient, Deployment, findCondition, type KubeObject, type Transport } from '@slipway/kube';
import { annotations } from '@slipway/manifests';
import { describe, expect, test } from 'vitest';

import { activeOperandControllers } from '../src/active/controllers.ts';
import { Operand } from '../src/api.ts';
import { operandController } from '../src/operand/controller.ts';
import { startRefusingWebhook } from './refusing-webhook.ts';
import {
  changeTo,
  configMap,
  deployment,
  impossible,
  installMessage,
  noise,
  operand,
  operandCluster,
  operandWithReason,
  readyOperand,
  runOperator,
  setsOf,
} from './story.ts';

const key = (name: string) => ({ namespace: 'default', name });

/** Each kind of bad input gives a condition that names the object and says what to do, and harms nothing else. */
describe('malformed members', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    [
      'no name',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} },
      /spec\.steadyState\[1\], metadata\.name: is required/,
    ],
    [
      'a generated name',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'x-' } },
      /spec\.steadyState\[1\], metadata\.generateName: is not allowed/,
    ],
    [
      'a label that is no text',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default', labels: { on: true } } },
      /spec\.steadyState\[1\], metadata\.labels\[on\]: must be text, not a boolean; put it in quotes/,
    ],
    [
      'a wave that is no number',
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { ...key('x'), annotations: { 'manifests.slipway.dev/wave': 'soon' } },
      },
      /ConfigMap default\/x, metadata\.annotations\[manifests\.slipway\.dev\/wave\]: must be a whole number, not "soon"/,
    ],
    [
      'a dependency on itself',
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { ...key('x'), annotations: { 'manifests.slipway.dev/depends-on': 'core/ConfigMap/default/x' } },
      },
      /depends on itself: ConfigMap default\/x → ConfigMap default\/x/,
    ],
  ])('%s: an invalid manifest, and the set in force stays', async (_what, member, message) => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(operand('shop', [configMap('a', { v: '1' })]));
    const before = await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', [configMap('a', { v: '2' }), member as unknown as KubeObject]);
    const invalid = await operandWithReason(cluster, 'shop', 'InvalidManifest');
    expect(installMessage(invalid)).toMatch(message);
    expect(findCondition(invalid, 'Ready')).toMatchObject({ status: 'False', reason: 'InvalidManifest' });
    expect((await client.get(ConfigMap, key('a')))?.data).toEqual({ v: '1' });
    expect(invalid.status?.latestReadyActiveOperand).toBe(before.status?.latestReadyActiveOperand);
    await changeTo(cluster, 'shop', [configMap('a', { v: '3' })]);
    await readyOperand(cluster, 'shop');
  });

  test('what the server itself refuses is found before anything is written', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const broken = deployment('web');
    (broken['spec'] as Record<string, unknown>)['replicas'] = -3;
    await cluster.client.create(operand('shop', [configMap('a'), broken]));
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(installMessage(failed)).toMatch(/Deployment\.apps default\/web: .*spec\.replicas/);
    expect(await cluster.client.get(ConfigMap, key('a'))).toBeUndefined();
    expect(failed.status?.members?.[0]).toMatchObject({ object: 'Deployment.apps default/web', result: 'failed' });
  });

  test('an Operand that is no Operand is refused by its own schema', async () => {
    await using cluster = await operandCluster();
    const bad = operand('shop', [], { prunePolicy: 'Sometimes', maxPrunePercent: 130 });
    await expect(cluster.client.create(bad)).rejects.toThrow(/spec\.(prunePolicy|maxPrunePercent)/);
    const shapeless = operand('shop', [{ kind: 'ConfigMap' } as unknown as KubeObject]);
    await expect(cluster.client.create(shapeless)).rejects.toThrow(/spec\.steadyState\[0\]\.(apiVersion|metadata)/);
  });
});

describe('things that are not there', () => {
  test('an unknown kind is named, and what can be applied before it is', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const unknown: KubeObject = { apiVersion: 'nobody.example.com/v1', kind: 'Ghost', metadata: key('g') };
    await cluster.client.create(operand('shop', [configMap('a'), unknown]));
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(installMessage(failed)).toContain('Ghost.nobody.example.com default/g');
    expect(installMessage(failed)).toContain('add its CustomResourceDefinition to the set or install it first');
    expect(await cluster.client.get(ConfigMap, key('a'))).toBeDefined();
  });

  test('a missing namespace is named, and the others of the wave are applied', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const inside: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'missing', name: 'x' } };
    await client.create(operand('shop', [configMap('a'), inside]));
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(installMessage(failed)).toContain('ConfigMap missing/x');
    expect(installMessage(failed)).toContain('add the Namespace to the set or create it first');
    expect(await client.get(ConfigMap, key('a'))).toBeDefined();
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'missing' } });
    await readyOperand(cluster, 'shop');
  });

  test('a namespaced kind without a namespace and the other way round', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    await cluster.client.create(
      operand('shop', [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'homeless' } },
        { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: key('housed'), rules: [] },
      ]),
    );
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(installMessage(failed)).toContain('ConfigMap homeless: metadata.namespace is required');
    expect(installMessage(failed)).toContain('default/housed: metadata.namespace must not be set');
  });
});

describe('two Operands with one object', () => {
  test('that disagree: the second says who it disagrees with, the first is not harmed', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(operand('one', [configMap('shared', { v: 'one' })]));
    await readyOperand(cluster, 'one');
    await client.create(operand('two', [configMap('shared', { v: 'two' }), configMap('own')]));
    const failed = await operandWithReason(cluster, 'two', 'Failed');
    expect(installMessage(failed)).toContain('ConfigMap default/shared');
    expect(installMessage(failed)).toContain('operand-two and operand-one');
    expect(installMessage(failed)).toContain('take it out of one of them');
    expect((await client.get(ConfigMap, key('shared')))?.data).toEqual({ v: 'one' });
    expect(await client.get(ConfigMap, key('own'))).toBeDefined();
    await readyOperand(cluster, 'one');
    // Once they agree, they share.
    await changeTo(cluster, 'two', [configMap('shared', { v: 'one' }), configMap('own')]);
    await readyOperand(cluster, 'two');
    expect((await client.get(ConfigMap, key('shared')))?.metadata.ownerReferences).toHaveLength(2);
  });
});

describe('a very large Operand', () => {
  test('of 1.4 MB is installed, and says when it cannot be kept for a roll-back', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const members = Array.from({ length: 14 }, (_, i) => configMap(`big${i}`, { text: noise(97_000, i) }));
    await client.create(operand('big', members, { onFailure: 'Rollback' }));
    const ready = await readyOperand(cluster, 'big');
    expect(ready.status?.counts).toMatchObject({ total: 14, applied: 14 });
    expect(JSON.stringify(ready.status).length).toBeLessThan(20_000);
    const judged = await cluster.eventually('it says that it is too large to keep', async () => {
      const found = await client.get(Operand, { name: 'big' });
      return findCondition(found, 'RollbackPossible');
    });
    expect(judged).toMatchObject({ status: 'False', reason: 'ManifestTooLarge' });
    expect(judged.message).toContain('spec.steadyStateFrom');
    // The largest change is seen like any other.
    await client.delete(ConfigMap, key('big3'));
    await cluster.eventually('big3 is back', async () => await client.get(ConfigMap, key('big3')));
  });
});

describe('an Operand with as many and as large members as it can hold', () => {
  test(
    'that makes way twice before it was ready does not outgrow its object, and the last manifest gets installed',
    { timeout: 300_000 },
    async () => {
      await using cluster = await operandCluster();
      await runOperator(cluster);
      const { client } = cluster;
      const large = [1, 2, 3].map((i) => configMap(`large-${i}`, { text: 'x'.repeat(445_000) }));
      const many = (round: number) =>
        Array.from({ length: 250 }, (_, i) => configMap(`${'x'.repeat(230)}-${round}-${i}`));
      await client.create(operand('shop', [...large, ...many(1), impossible]));
      await operandWithReason(cluster, 'shop', 'Failed');
      for (const round of [2, 3]) {
        await changeTo(cluster, 'shop', [...large, ...many(round), impossible]);
        await operandWithReason(cluster, 'shop', 'Failed');
      }
      await changeTo(cluster, 'shop', [configMap('a')]);
      const { status } = await readyOperand(cluster, 'shop');
      expect(status).not.toHaveProperty('carryOverPacked');
      const members = await Array.fromAsync(client.list(ConfigMap, { labelSelector: 'manifests.slipway.dev/member' }));
      expect(members.map(({ metadata }) => metadata.name)).toEqual(['a']);
    },
  );
});

describe('a set of 3300 members that was never ready', () => {
  test('makes way, although a list of them beside the next manifest is more than the server stores', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const postInstall = Array.from({ length: 3300 }, (_, i) => configMap(`${'x'.repeat(200)}-${i}`));
    await client.create(operand('shop', [impossible], { postInstall }));
    await operandWithReason(cluster, 'shop', 'Failed');
    const [set] = await setsOf(cluster);
    const large = configMap('large', { text: 'x'.repeat(900_000) });
    expect(JSON.stringify([large, set?.spec.live]).length).toBeGreaterThan(1.5 * 1024 * 1024);
    await changeTo(cluster, 'shop', [large], { postInstall: [] });
    const { status } = await readyOperand(cluster, 'shop');
    expect(status).not.toHaveProperty('carryOverPacked');
    expect(status?.latestReadyActiveOperand).not.toBe(set?.metadata.name);
  });
});

describe('a webhook that refuses', () => {
  test('is quoted with the object, before anything is changed', async () => {
    await using cluster = await operandCluster();
    await using webhook = await startRefusingWebhook(cluster.clock.now());
    const { client } = cluster;
    await client.create(webhook.configuration);
    // Time stands still while the webhook is asked: it answers over a real connection.
    const asked = new Set<Promise<void>>();
    const done = new Map<unknown, () => void>();
    await runOperator(cluster, (request, phase) => {
      if (phase === 'after') {
        done.get(request)?.();
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      asked.add(promise);
      done.set(request, () => {
        asked.delete(promise);
        resolve();
      });
    });
    const says = (reason: string) =>
      cluster.eventually(`Ready says ${reason}`, async () => {
        await Promise.all(asked);
        const found = await client.get(Operand, { name: 'shop' });
        const ready = found && findCondition(found, 'Ready');
        return ready?.reason === reason && found?.status?.observedGeneration === found?.metadata.generation
          ? found
          : undefined;
      });
    await client.create(operand('shop', [configMap('green', { v: '1' })]));
    await says('Installed');
    await changeTo(cluster, 'shop', [configMap('blue'), configMap('green', { v: '2' }), deployment('web')]);
    const failed = await says('Failed');
    expect(installMessage(failed)).toContain('ConfigMap default/blue');
    expect(installMessage(failed)).toContain('blue is not allowed here');
    expect(installMessage(failed)).toContain('change the object, or what denies it');
    expect((await client.get(ConfigMap, key('green')))?.data).toEqual({ v: '1' });
    expect(await client.get(Deployment, key('web'))).toBeUndefined();
  });
});

describe('permissions that are missing', () => {
  const rules = [
    { apiGroups: ['operand.run.cloud.google.com'], resources: ['*'], verbs: ['*'] },
    { apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['*'] },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['*'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
  ];

  const role = (allowed: object[]): KubeObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'little' },
    rules: allowed,
  });

  async function littleCluster(allowed: object[]) {
    const cluster = await operandCluster({ embedded: { authorization: 'RBAC' } });
    await cluster.client.create(role(allowed));
    await cluster.client.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'little' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'little' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'little-operator' }],
    });
    const user = createClient({
      transport: as(cluster.transport(), 'little-operator'),
      fieldManager: 'little-operator',
      clock: cluster.clock,
    });
    await cluster.eventually(
      'the role is in force',
      async () => (await user.canI({ verb: 'get', resource: 'configmaps', namespace: 'default' })).allowed,
    );
    await cluster.run([operandController(), ...activeOperandControllers()], {
      cluster: { transport: as(cluster.transport(), 'little-operator') },
    });
    return cluster;
  }

  function as(inner: Transport, user: string): Transport {
    const dressed = <T extends { headers?: Readonly<Record<string, string>> }>(request: T): T => ({
      ...request,
      headers: { ...request.headers, 'impersonate-user': user },
    });
    return {
      send: (request, signal) => inner.send(dressed(request), signal),
      open: (request, handler) => inner.open(dressed(request), handler),
      close: () => inner.close(),
    };
  }

  test('to write a member: the object and the right are named, the rest is applied, and a role mends it', async () => {
    await using cluster = await littleCluster(rules);
    const { client } = cluster;
    const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: key('s'), stringData: { p: 'canary-9' } };
    await client.create(operand('shop', [configMap('a'), secret]));
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(installMessage(failed)).toContain('Secret default/s');
    // The server's own words about a Secret are left out; verb, object and code say what is missing.
    expect(installMessage(failed)).toMatch(/the server refused (apply|create) Secret\.v1 default\/s \(403 Forbidden\)/);
    expect(installMessage(failed)).toContain('allow it with a role');
    expect(JSON.stringify(failed.status)).not.toContain('canary-9');
    expect(await client.get(ConfigMap, key('a'))).toBeDefined();
    await client.apply(role([...rules, { apiGroups: [''], resources: ['secrets'], verbs: ['*'] }]));
    await readyOperand(cluster, 'shop');
  });

  test('to read a member: the same', async () => {
    await using cluster = await littleCluster(rules);
    const { client } = cluster;
    await client.create(operand('shop', [configMap('a', {}), { ...deployment('web') }]));
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(installMessage(failed)).toContain('Deployment.apps default/web');
    expect(installMessage(failed)).toContain('allow it with a role');
    expect(await client.get(ConfigMap, key('a'))).toBeDefined();
  });

  test('to make a set: the request is named', async () => {
    const little = rules.map((rule) =>
      rule.apiGroups[0] === 'operand.run.cloud.google.com'
        ? { ...rule, verbs: ['get', 'list', 'watch', 'update', 'patch'] }
        : rule,
    );
    await using cluster = await littleCluster(little);
    await cluster.client.create(operand('shop', [configMap('a')]));
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(installMessage(failed)).toMatch(/cannot create resource "clusteractiveoperands"/);
    expect(await setsOf(cluster)).toEqual([]);
    expect(await cluster.client.get(ConfigMap, key('a'))).toBeUndefined();
  });
});

describe('more text than a condition holds', () => {
  test('of a manifest with thousands of mistakes the first few are shown, and how many more there are', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const nameless = Array.from({ length: 2000 }, () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }));
    await cluster.client.create(operand('shop', nameless as KubeObject[]));
    const message = installMessage(await operandWithReason(cluster, 'shop', 'InvalidManifest'));
    expect(message).toContain('spec.steadyState[9], metadata.name: is required');
    expect(message).not.toContain('spec.steadyState[10]');
    expect(message).toMatch(/and 1990 more$/);
  });

  test('a message a member brings is cut, and the cut is said', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const talker = configMap('talker', { note: 'blah '.repeat(10_000) });
    const rule = { kind: 'ConfigMap', current: { path: '.data.done' }, message: { path: '.data.note' } };
    await cluster.client.create(operand('shop', [talker], { checkDeploymentHealth: true, healthRules: [rule] }));
    // It waits from the start; what for it says once it has looked.
    const message = await cluster.eventually('it says what it waits for', async () => {
      const said = installMessage(await operandWithReason(cluster, 'shop', 'Waiting'));
      return said.includes('talker') ? said : undefined;
    });
    expect(message).toMatch(/ConfigMap default\/talker: blah .*… and \d+ characters more$/s);
    expect(message.length).toBeLessThanOrEqual(32_768);
  });
});

describe('names as long as names can be', () => {
  test('two Operands that differ in their last character do not take each other for the same', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const names = ['1', '2'].map((end) => `${'n'.repeat(252)}${end}`);
    const ensured = { annotations: { [annotations.mode]: 'EnsureExists' } };
    for (const [index, name] of names.entries())
      await client.create(operand(name, [configMap('shared', { v: '1' }), configMap(`own-${index}`, {}, ensured)]));
    for (const name of names) await readyOperand(cluster, name);
    const managers = (await client.get(ConfigMap, key('shared')))?.metadata.managedFields?.map(
      (entry) => entry.manager,
    );
    expect(new Set(managers).size).toBe(2);
    expect(Math.max(...managers!.map((manager) => manager!.length))).toBe(128);
    await client.delete(Operand, { name: names[0]! });
    await cluster.eventually('the first is gone', async () => !(await client.get(Operand, { name: names[0]! })));
    expect(await client.get(ConfigMap, key('shared'))).toBeDefined();
    await readyOperand(cluster, names[1]!);
  });
});
