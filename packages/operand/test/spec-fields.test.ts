import { gunzipSync } from 'node:zlib';
import { ConfigMap, findCondition, isConditionTrue, Secret, Service, type KubeObject } from '@slipway/kube';
import { annotations } from '@slipway/manifests';
import type { TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import { names } from '../src/names.ts';
import {
  changeTo,
  configMap,
  definitionOf,
  deployment,
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

async function gone(cluster: TestCluster, name: string): Promise<void> {
  await cluster.eventually(`${name} is gone`, async () => !(await cluster.client.get(ConfigMap, key(name))));
}

/** A Deployment whose pods no node takes. */
function stuckDeployment(name: string): KubeObject {
  const object = deployment(name);
  const spec = object['spec'] as { template: { spec: Record<string, unknown> } };
  spec.template.spec['nodeSelector'] = { 'example.com/nowhere': 'yes' };
  return object;
}

async function activeReason(cluster: TestCluster, name: string, reason: string): Promise<Operand> {
  return await cluster.eventually(`LatestActiveOperandReady says ${reason}`, async () => {
    const found = await cluster.client.get(Operand, { name });
    return found && findCondition(found, 'LatestActiveOperandReady')?.reason === reason ? found : undefined;
  });
}

async function approve(cluster: TestCluster, name: string, generation: number): Promise<void> {
  await cluster.client.patch(
    Operand,
    { name },
    {
      type: 'merge',
      body: { metadata: { annotations: { [names.approvePruneAnnotation]: String(generation) } } },
    },
  );
}

describe('spec.mode: Plan', () => {
  test('shows what would be done and does nothing, until it is Apply', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(operand('shop', [configMap('a', { v: '1' }), configMap('b')]));
    const before = await readyOperand(cluster, 'shop');
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: key('s'), stringData: { password: 'canary-8' } };
    await changeTo(cluster, 'shop', [configMap('a', { v: '2' }), configMap('c'), secret], { mode: 'Plan' });
    const planned = await cluster.eventually('the plan is there', async () => {
      const found = await client.get(Operand, { name: 'shop' });
      return found?.status?.plan && found.status.observedGeneration === found.metadata.generation ? found : undefined;
    });
    expect(planned.status?.plan).toEqual([
      '~ ConfigMap default/a',
      '    data.v: 1 → 2',
      '+ ConfigMap default/c',
      '+ Secret default/s',
      '- ConfigMap default/b',
      '2 to create, 1 to change, 1 to prune, 0 unchanged',
    ]);
    expect(findCondition(planned, 'Planned')).toMatchObject({ status: 'True', reason: 'Planned' });
    expect(findCondition(planned, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'Planned' });
    expect(JSON.stringify(planned.status)).not.toContain('canary-8');
    expect((await client.get(ConfigMap, key('a')))?.data).toEqual({ v: '1' });
    expect(await client.get(ConfigMap, key('c'))).toBeUndefined();
    expect(planned.status?.latestReadyActiveOperand).toBe(before.status?.latestReadyActiveOperand);
    expect((await setsOf(cluster)).length).toBe(1);

    await client.patch(Operand, { name: 'shop' }, { type: 'merge', body: { spec: { mode: 'Apply' } } });
    await gone(cluster, 'b');
    const applied = await readyOperand(cluster, 'shop');
    expect(await client.get(Secret, key('s'))).toBeDefined();
    expect(applied.status?.plan).toBeUndefined();
    expect(findCondition(applied, 'Planned')).toMatchObject({ status: 'False', reason: 'Applied' });
  });
});

describe('spec.prunePolicy', () => {
  test('Orphan leaves what left the set, without an owner', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(operand('shop', [configMap('a'), configMap('b')], { prunePolicy: 'Orphan' }));
    await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', [configMap('a')]);
    await readyOperand(cluster, 'shop');
    await cluster.eventually('the old set is gone', async () => (await setsOf(cluster)).length === 1);
    const left = await client.get(ConfigMap, key('b'));
    expect(left?.metadata.ownerReferences ?? []).toEqual([]);
    expect((await client.get(ConfigMap, key('a')))?.metadata.ownerReferences).toHaveLength(1);
  });

  test.each(['Background', 'Foreground'])('%s reaches the delete of each object', async (policy) => {
    await using cluster = await operandCluster();
    const policies = new Set<string>();
    await runOperator(cluster, (request, phase) => {
      if (phase !== 'before' || request.method !== 'DELETE' || !request.path.includes('/configmaps/b')) return;
      policies.add(
        `${request.path} ${String(request.body ?? '')}`.match(/Background|Foreground|Orphan/)?.[0] ?? 'none',
      );
    });
    await cluster.client.create(operand('shop', [configMap('a'), configMap('b')], { prunePolicy: policy }));
    await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', [configMap('a')]);
    await gone(cluster, 'b');
    await readyOperand(cluster, 'shop');
    expect([...policies]).toEqual([policy]);
  });

  test('a member that says so stays', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const keep = configMap('kept', {}, { annotations: { [annotations.prune]: 'disabled' } });
    await cluster.client.create(operand('shop', [configMap('a'), keep]));
    await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', [configMap('a')]);
    await readyOperand(cluster, 'shop');
    await cluster.client.delete(Operand, { name: 'shop' });
    await gone(cluster, 'a');
    expect(await cluster.client.get(ConfigMap, key('kept'))).toBeDefined();
  });
});

describe('spec.maxPrunePercent', () => {
  test('holds a prune that is too large until it is approved for this generation', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const all = ['a', 'b', 'c', 'd'].map((name) => configMap(name));
    await client.create(operand('shop', all, { maxPrunePercent: 50 }));
    await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', [all[0]!]);
    const held = await activeReason(cluster, 'shop', 'PruneRefused');
    const message = findCondition(held, 'LatestActiveOperandReady')?.message ?? '';
    expect(message).toContain('would prune 3 of 4 objects, more than the allowed 50 %');
    expect(message).toContain(`${names.approvePruneAnnotation}: "${held.metadata.generation}"`);
    expect(findCondition(held, 'Ready')).toMatchObject({ status: 'False', reason: 'PruneRefused' });
    expect(isConditionTrue(held, 'OperandInstalled')).toBe(true);
    for (const name of ['b', 'c', 'd']) expect(await client.get(ConfigMap, key(name))).toBeDefined();

    // An approval for an earlier generation is none.
    await approve(cluster, 'shop', held.metadata.generation! - 1);
    await cluster.advance(cluster.type === 'embedded' ? 120_000 : 2_000);
    expect(await client.get(ConfigMap, key('b'))).toBeDefined();
    await approve(cluster, 'shop', held.metadata.generation!);
    for (const name of ['b', 'c', 'd']) await gone(cluster, name);
    await readyOperand(cluster, 'shop');
  });
});

describe('a manifest that has become empty', () => {
  test('prunes nothing unless asked, and says how to ask', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(operand('shop', [configMap('a'), configMap('b')]));
    const first = await readyOperand(cluster, 'shop');
    const { uid } = (await client.get(ConfigMap, key('a')))!.metadata;
    await changeTo(cluster, 'shop', []);
    const held = await activeReason(cluster, 'shop', 'PruneRefused');
    const message = findCondition(held, 'Ready')?.message ?? '';
    expect(message).toContain('would prune all 2 objects');
    expect(message).toContain('spec.allowEmpty: true');
    await cluster.advance(cluster.type === 'embedded' ? 600_000 : 3_000);
    expect(await client.get(ConfigMap, key('b'))).toBeDefined();

    // The objects come back as if nothing had been.
    await changeTo(cluster, 'shop', [configMap('a'), configMap('b')]);
    const back = await readyOperand(cluster, 'shop');
    expect(back.status?.latestReadyActiveOperand).toBe(first.status?.latestReadyActiveOperand);
    expect((await client.get(ConfigMap, key('a')))?.metadata.uid).toBe(uid);
    expect((await setsOf(cluster)).length).toBe(1);
  });

  test('prunes all with spec.allowEmpty', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    await cluster.client.create(operand('shop', [configMap('a'), configMap('b')]));
    await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', [], { allowEmpty: true });
    await gone(cluster, 'a');
    await gone(cluster, 'b');
    const empty = await readyOperand(cluster, 'shop');
    expect(empty.status?.latestReadyActiveOperand).toBe('sha256-4f53cda18c');
  });

  test('prunes all once approved for this generation', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    await cluster.client.create(operand('shop', [configMap('a')]));
    await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', []);
    const held = await activeReason(cluster, 'shop', 'PruneRefused');
    await approve(cluster, 'shop', held.metadata.generation!);
    await gone(cluster, 'a');
    await readyOperand(cluster, 'shop');
  });

  test('an Operand that was empty from the start is ready', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    await cluster.client.create(operand('shop', []));
    await readyOperand(cluster, 'shop');
  });
});

describe('spec.deletionPolicy: Orphan', () => {
  test('leaves the objects when the Operand goes', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(operand('shop', [configMap('a')], { deletionPolicy: 'Orphan' }));
    await readyOperand(cluster, 'shop');
    await client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
    await cluster.eventually('its sets are gone', async () => (await setsOf(cluster)).length === 0);
    await cluster.advance(cluster.type === 'embedded' ? 60_000 : 2_000);
    const left = await client.get(ConfigMap, key('a'));
    expect(left).toBeDefined();
    expect(left?.metadata.ownerReferences ?? []).toEqual([]);
  });
});

describe('spec.adoptionPolicy', () => {
  test('MustMatch refuses what exists, AdoptIfUnowned takes it', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(configMap('a', { v: 'theirs' }));
    await client.create(operand('shop', [configMap('a', { v: 'ours' })], { adoptionPolicy: 'MustMatch' }));
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(installMessage(failed)).toContain('ConfigMap default/a: exists already and does not belong to this set');
    expect((await client.get(ConfigMap, key('a')))?.data).toEqual({ v: 'theirs' });
    await client.patch(
      Operand,
      { name: 'shop' },
      { type: 'merge', body: { spec: { adoptionPolicy: 'AdoptIfUnowned' } } },
    );
    await readyOperand(cluster, 'shop');
    expect((await client.get(ConfigMap, key('a')))?.data).toEqual({ v: 'ours' });
  });
});

describe('spec.steadyStateFrom', () => {
  const source = (value: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...key('source'), labels: { [names.sourceLabel]: 'shop' } },
    data: {
      'set.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inner, namespace: default}\ndata: {v: "${value}"}\n`,
    },
  });

  test('a change of a labelled source is picked up at once', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(source('1'));
    await client.create(
      operand('shop', [], { steadyStateFrom: [{ kind: 'ConfigMap', namespace: 'default', name: 'source' }] }),
    );
    await readyOperand(cluster, 'shop');
    await client.apply(source('2'), { fieldManager: 'test' });
    await cluster.eventually(
      'the new content is there',
      async () => (await client.get(ConfigMap, key('inner')))?.data?.['v'] === '2',
      { withinMs: 2_000 },
    );
    const ready = await readyOperand(cluster, 'shop');
    expect(ready.status?.latestInstalledSteadyStateGeneration).toBe(ready.metadata.generation);
  });

  test('is read as kubectl reads YAML: a time is text, 0o17 is a number, merge keys are merged', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const yaml = [
      'apiVersion: v1\nkind: ConfigMap',
      'metadata: {name: inner, namespace: default, annotations: &shared {team: blue, shift: day}}',
      'data: {<<: *shared, at: 12:30:45, shift: night}',
      '---\napiVersion: v1\nkind: Service\nmetadata: {name: inner, namespace: default}',
      'spec: {ports: [{port: 0o17, protocol: TCP}]}\n',
    ].join('\n');
    await client.create({ ...source(''), data: { 'set.yaml': yaml } });
    await client.create(
      operand('shop', [], { steadyStateFrom: [{ kind: 'ConfigMap', namespace: 'default', name: 'source' }] }),
    );
    await readyOperand(cluster, 'shop');
    expect((await client.get(ConfigMap, key('inner')))?.data).toEqual({ team: 'blue', at: '12:30:45', shift: 'night' });
    expect((await client.get(Service, key('inner')))?.spec?.ports?.[0]?.port).toBe(15);
  });

  test('a source that is missing, broken or empty is named, and nothing is touched', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(source('1'));
    await client.create(
      operand('shop', [], { steadyStateFrom: [{ kind: 'ConfigMap', namespace: 'default', name: 'source' }] }),
    );
    await readyOperand(cluster, 'shop');

    await client.apply({ ...source('1'), data: { 'set.yaml': 'kind: ConfigMap\nmetadata: {name: [}\n' } });
    const broken = await operandWithReason(cluster, 'shop', 'InvalidManifest');
    expect(installMessage(broken)).toContain('spec.steadyStateFrom[0] set.yaml, document 1, line 2');
    expect(await client.get(ConfigMap, key('inner'))).toBeDefined();

    await client.apply({ ...source('1'), data: { 'set.yaml': '# nothing\n' } });
    await activeReason(cluster, 'shop', 'PruneRefused');
    expect(await client.get(ConfigMap, key('inner'))).toBeDefined();

    await client.delete(ConfigMap, key('source'));
    const missing = await operandWithReason(cluster, 'shop', 'InvalidManifest');
    expect(installMessage(missing)).toContain('ConfigMap default/source does not exist');
    expect(await client.get(ConfigMap, key('inner'))).toBeDefined();

    await client.create(source('3'));
    await readyOperand(cluster, 'shop');
    expect((await client.get(ConfigMap, key('inner')))?.data).toEqual({ v: '3' });
  });
});

describe('spec.progressDeadlineSeconds', () => {
  test('an install that takes longer has failed, at the deadline and not a resync later', async () => {
    await using cluster = await operandCluster({ controllers: 'workloads' });
    await runOperator(cluster);
    const started = cluster.clock.now();
    await cluster.client.create(
      operand('shop', [stuckDeployment('web')], { checkDeploymentHealth: true, progressDeadlineSeconds: 5 }),
    );
    const failed = await operandWithReason(cluster, 'shop', 'ProgressDeadlineExceeded');
    expect(installMessage(failed)).toContain('not ready within progressDeadlineSeconds');
    expect(installMessage(failed)).toContain('Deployment default/web: ');
    expect(findCondition(failed, 'Ready')).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
    expect(cluster.clock.now() - started).toBeLessThan(20_000);
  });
});

describe('spec.onFailure: Rollback', () => {
  test('goes back to the last ready manifest, and leaves it with the next generation', async () => {
    await using cluster = await operandCluster({ controllers: 'workloads' });
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(
      operand('shop', [configMap('a', { v: 'good' }), configMap('b')], {
        checkDeploymentHealth: true,
        onFailure: 'Rollback',
        progressDeadlineSeconds: 3,
      }),
    );
    const first = await readyOperand(cluster, 'shop');
    await cluster.eventually('the manifest is kept', async () =>
      (await setsOf(cluster)).some((set) => set.status?.lastReadyManifest),
    );
    await changeTo(cluster, 'shop', [configMap('a', { v: 'bad' }), stuckDeployment('web')]);
    const back = await operandWithReason(cluster, 'shop', 'RolledBack');
    expect(installMessage(back)).toContain(`generation ${back.metadata.generation} failed`);
    expect(installMessage(back)).toContain('Deployment default/web: ');
    expect((await client.get(ConfigMap, key('a')))?.data).toEqual({ v: 'good' });
    await cluster.eventually('the failed set is gone', async () => (await setsOf(cluster)).length === 1);
    expect((await client.get(Operand, { name: 'shop' }))?.status?.latestReadyActiveOperand).toBe(
      first.status?.latestReadyActiveOperand,
    );
    await cluster.eventually(
      'what the failed set made is gone',
      async () => !(await client.get(await client.resolve('apps/v1', 'Deployment'), key('web'))),
    );

    await changeTo(cluster, 'shop', [configMap('a', { v: 'better' }), configMap('c')]);
    const next = await readyOperand(cluster, 'shop');
    expect((await client.get(ConfigMap, key('a')))?.data).toEqual({ v: 'better' });
    expect(next.status?.latestReadyActiveOperand).not.toBe(first.status?.latestReadyActiveOperand);
    await gone(cluster, 'b');
  });
});

const keptSecrets = async (cluster: TestCluster) =>
  (await Array.fromAsync(cluster.client.list(Secret, { namespace: 'default' }))).filter(
    (secret) => secret.type === 'operand.slipway.dev/manifest',
  );

describe('spec.onFailure: Rollback with Secrets in the manifest', () => {
  test('keeps them in a Secret and nowhere else, and goes back to them', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const hidden = (name: string, password: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: key(name),
      stringData: { password },
    });
    const wish = (password: string, state: string) => ({
      steadyState: [configMap('a', { state }), hidden('early', password)],
      postInstall: [hidden('late', password)],
    });
    const rules = [
      {
        kind: 'ConfigMap',
        current: { path: '.data.state', equals: 'good' },
        failed: { path: '.data.state', equals: 'broken' },
      },
    ];
    const passwords = async () =>
      await Promise.all(
        ['early', 'late'].map(async (name) =>
          Buffer.from((await client.get(Secret, key(name)))?.data?.['password'] ?? '', 'base64').toString(),
        ),
      );
    const { steadyState, ...rest } = wish('canary-good', 'good');
    await client.create(
      operand('shop', steadyState, {
        ...rest,
        checkDeploymentHealth: true,
        onFailure: 'Rollback',
        healthRules: rules,
      }),
    );
    await readyOperand(cluster, 'shop');
    await cluster.eventually('the manifest is kept', async () => {
      const found = await client.get(Operand, { name: 'shop' });
      return isConditionTrue(found, 'RollbackPossible');
    });
    expect(await keptSecrets(cluster)).toHaveLength(1);
    const [set] = await setsOf(cluster);
    const open = gunzipSync(Buffer.from(set!.status!.lastReadyManifest!.data, 'base64')).toString();
    expect(open).toContain('"a"');
    for (const text of ['canary', Buffer.from('canary-good').toString('base64')]) {
      expect(open).not.toContain(text);
      expect(JSON.stringify([set, (await client.get(Operand, { name: 'shop' }))?.status])).not.toContain(text);
    }

    await client.patch(Operand, { name: 'shop' }, { type: 'merge', body: { spec: wish('canary-bad', 'broken') } });
    await operandWithReason(cluster, 'shop', 'RolledBack');
    expect(await passwords()).toEqual(['canary-good', 'canary-good']);
    expect((await client.get(ConfigMap, key('a')))?.data).toEqual({ state: 'good' });

    await client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the copy goes with the Operand', async () => (await keptSecrets(cluster)).length === 0);
  });

  test('splits what is too large for one Secret', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    for (const index of [0, 1]) {
      const members = [0, 1].map((part) => configMap(`big${index}${part}`, { text: noise(400_000, index * 2 + part) }));
      await client.create(
        configMap(`source${index}`, { 'set.yaml': members.map((it) => JSON.stringify(it)).join('\n---\n') }),
      );
    }
    await client.create(
      operand('shop', [configMap('state', { state: 'good' })], {
        checkDeploymentHealth: true,
        onFailure: 'Rollback',
        healthRules: [
          { kind: 'ConfigMap', failed: { path: '.data.state', equals: 'broken' }, current: { path: '.metadata' } },
        ],
        steadyStateFrom: [0, 1].map((index) => ({ kind: 'ConfigMap', namespace: 'default', name: `source${index}` })),
      }),
    );
    await readyOperand(cluster, 'shop');
    await cluster.eventually('the manifest is kept', async () =>
      isConditionTrue(await client.get(Operand, { name: 'shop' }), 'RollbackPossible'),
    );
    expect((await keptSecrets(cluster)).length).toBeGreaterThan(1);
    const text = (await client.get(ConfigMap, key('big11')))?.data;
    await changeTo(cluster, 'shop', [configMap('state', { state: 'broken' })]);
    await operandWithReason(cluster, 'shop', 'RolledBack');
    expect((await client.get(ConfigMap, key('big11')))?.data).toEqual(text);
    expect((await client.get(ConfigMap, key('state')))?.data).toEqual({ state: 'good' });
  });
});

describe('spec.onFailure: Rollback with a Secret as source', () => {
  const source = (password: string, broken = false): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...key('source'), labels: { [names.sourceLabel]: 'shop' } },
    stringData: {
      'set.yaml': [
        `{apiVersion: v1, kind: Secret, metadata: {name: hidden, namespace: default}, stringData: {password: ${password}}}`,
        ...(broken ? [JSON.stringify(stuckDeployment('web'))] : []),
      ].join('\n---\n'),
    },
  });
  const passwordOf = async (cluster: TestCluster) => {
    const data = (await cluster.client.get(Secret, key('hidden')))?.data?.['password'] ?? '';
    return Buffer.from(data, 'base64').toString();
  };
  test('keeps it in Secrets only, goes back to it, and leaves when the source changes', async () => {
    await using cluster = await operandCluster({ controllers: 'workloads' });
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(source('canary-old'));
    await client.create(
      operand('shop', [configMap('open')], {
        checkDeploymentHealth: true,
        onFailure: 'Rollback',
        progressDeadlineSeconds: 3,
        steadyStateFrom: [{ kind: 'Secret', namespace: 'default', name: 'source' }],
      }),
    );
    await readyOperand(cluster, 'shop');
    await client.apply(source('canary-good'), { fieldManager: 'test' });
    await cluster.eventually('the new password is kept', async () => {
      const [set] = await setsOf(cluster);
      const found = await client.get(Operand, { name: 'shop' });
      return (
        (await passwordOf(cluster)) === 'canary-good' &&
        isConditionTrue(found, 'Ready') &&
        set?.status?.lastReadyManifest?.sourcesHash === found?.status?.sourcesHash
      );
    });
    await cluster.eventually('one copy is left', async () => (await keptSecrets(cluster)).length === 1);
    const stored = JSON.stringify([await setsOf(cluster), await client.get(Operand, { name: 'shop' })]);
    for (const text of ['canary', Buffer.from('canary-good').toString('base64')]) expect(stored).not.toContain(text);
    const [set] = await setsOf(cluster);
    const open = gunzipSync(Buffer.from(set!.status!.lastReadyManifest!.data, 'base64')).toString();
    expect(open).toContain('open');
    expect(open).not.toContain('canary');

    await client.apply(source('canary-bad', true), { fieldManager: 'test' });
    await operandWithReason(cluster, 'shop', 'RolledBack');
    expect(await passwordOf(cluster)).toBe('canary-good');

    await client.apply(source('canary-better'), { fieldManager: 'test' });
    await cluster.eventually('the roll-back is left', async () => (await passwordOf(cluster)) === 'canary-better');
    const ready = await readyOperand(cluster, 'shop');
    expect(ready.status?.rolledBackGeneration).toBeUndefined();

    await client.patch(Operand, { name: 'shop' }, { type: 'merge', body: { spec: { deletionPolicy: 'Orphan' } } });
    await readyOperand(cluster, 'shop');
    await client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
    expect(await keptSecrets(cluster)).toEqual([]);
    expect(await passwordOf(cluster)).toBe('canary-better');
  });
});

describe('spec.healthRules', () => {
  const group = 'health.example.com';
  const definition = definitionOf(group, 'Engine');
  const engine: KubeObject = { apiVersion: `${group}/v1`, kind: 'Engine', metadata: key('e') };

  test('decide when a member of any kind is healthy or has failed', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    await client.create(
      operand('shop', [definition, engine], {
        checkDeploymentHealth: true,
        postInstall: [configMap('after')],
        healthRules: [
          {
            group,
            kind: 'Engine',
            current: { path: '.status.phase', equals: 'Running' },
            failed: { expression: 'object.status.phase == "Broken"' },
            message: { path: '.status.note' },
          },
        ],
      }),
    );
    await operandWithReason(cluster, 'shop', 'Waiting');
    const kind = await cluster.eventually(
      'the kind is served',
      async () => await client.resolve(`${group}/v1`, 'Engine').catch(() => undefined),
    );
    const report = async (status: Record<string, string>) => {
      await cluster.eventually('the engine is there', async () => await client.get(kind, key('e')));
      await client.patch(kind, key('e'), { type: 'merge', body: { status } }, { subresource: 'status' });
    };
    await report({ phase: 'Broken', note: 'no oil' });
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(installMessage(failed)).toContain(`Engine.${group} default/e: no oil`);
    expect(await client.get(ConfigMap, key('after'))).toBeUndefined();
    await report({ phase: 'Running', note: '' });
    await readyOperand(cluster, 'shop');
    expect(await client.get(ConfigMap, key('after'))).toBeDefined();
  });

  test.each([
    [{}, 'spec.healthRules[0].current: needs either an expression or a path'],
    [{ expression: 'object.status ==' }, 'spec.healthRules: health rule for Engine, current'],
    [{ path: '.status[' }, '".status[" is not a path'],
  ])('a rule that cannot be used, %j, is an invalid manifest', async (current, message) => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    await cluster.client.create(
      operand('shop', [configMap('a')], { healthRules: [{ group, kind: 'Engine', current }] }),
    );
    const invalid = await operandWithReason(cluster, 'shop', 'InvalidManifest');
    expect(installMessage(invalid)).toContain(message);
    expect(await cluster.client.get(ConfigMap, key('a'))).toBeUndefined();
  });
});

describe('events', () => {
  test('tell each transition', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const eventKind = await client.resolve('events.k8s.io/v1', 'Event');
    const { uid } = (await client.create(operand('shop', [configMap('a'), configMap('b')]))).metadata;
    const told = async () =>
      new Set(
        (await Array.fromAsync(client.list(eventKind)))
          .filter((event) => (event['regarding'] as { uid?: string } | undefined)?.uid === uid)
          .map((event) => String(event['reason'])),
      );
    const tells = (reason: string) =>
      cluster.eventually(`an event says ${reason}`, async () => (await told()).has(reason));
    const lost: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'nowhere', name: 'x' } };

    for (const reason of ['SetCreated', 'Installed', 'SetActivated']) await tells(reason);
    await client.patch(ConfigMap, key('a'), { type: 'merge', body: { data: { v: 'edited' } } });
    await client.delete(ConfigMap, key('a'));
    await tells('DriftCorrected');
    await changeTo(cluster, 'shop', [configMap('c'), lost]);
    await tells('InstallFailed');
    await changeTo(cluster, 'shop', [configMap('d')]);
    for (const reason of ['SetSuperseded', 'Pruned']) await tells(reason);
    await changeTo(cluster, 'shop', [{ ...configMap('d'), metadata: { namespace: 'default' } } as KubeObject]);
    await tells('InvalidManifest');
    await changeTo(cluster, 'shop', []);
    await tells('PruneRefused');
  });
});
