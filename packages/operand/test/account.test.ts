import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ConfigMap,
  findCondition,
  isConditionTrue,
  ServiceAccount,
  type KubeError,
  type KubeObject,
  type PolicyRule,
  type Transport,
} from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { describe, expect, test } from 'vitest';
import { onReference, skipped, type TestCluster } from '@slipway/testing';

import { ActiveOperand, ClusterActiveOperand, Operand } from '../src/api.ts';
import { operandOperator } from '../src/operator.ts';
import {
  changeTo,
  configMap,
  installMessage,
  operand,
  operandCluster,
  operandWithReason,
  readyOperand,
  runOperator,
} from './story.ts';

const tenant = { serviceAccountName: 'deployer', serviceAccountNamespace: 'tenant' };
const deployer = { kind: 'ServiceAccount', namespace: 'tenant', name: 'deployer' };
const inTenant = (name: string, data: Record<string, string> = {}) => configMap(name, data, { namespace: 'tenant' });

/** A role of this kind and who has it. */
function rights(
  kind: 'Role' | 'ClusterRole',
  where: { namespace?: string },
  rules: readonly PolicyRule[],
  subjects: readonly object[],
  name = 'test',
): KubeObject[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const common = { apiVersion: `${apiGroup}/v1`, metadata: { ...where, name } };
  return [
    { ...common, kind, rules },
    { ...common, kind: `${kind}Binding`, subjects, roleRef: { apiGroup, kind, name } },
  ];
}

const role = (name: string, resources: string[], verbs: string[]) =>
  rights('Role', { namespace: 'tenant' }, [{ apiGroups: [''], resources, verbs }], [deployer], name);

const all = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** A cluster with a tenant whose account may do everything with ConfigMaps of its namespace, and nothing else. */
async function tenantCluster(): Promise<TestCluster> {
  return await operandCluster({
    embedded: { authorization: 'RBAC' },
    objects: [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'tenant', name: 'deployer' } },
      ...role('config', ['configmaps'], all),
    ],
  });
}

describe('an Operand with a ServiceAccount', () => {
  test('goes through its whole life with the rights of the account', async () => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    const asked = new Set<string>();
    await runOperator(cluster, ({ path, headers }, phase) => {
      if (phase === 'before' && path.includes('/namespaces/tenant/configmaps'))
        asked.add(headers?.['impersonate-user'] ?? 'the operator');
    });
    await client.create(inTenant('source', { all: JSON.stringify(inTenant('c')) }));
    const source = { kind: 'ConfigMap', namespace: 'tenant', name: 'source' };
    await client.create(operand('shop', [inTenant('a'), inTenant('b')], { ...tenant, steadyStateFrom: [source] }));
    await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', [inTenant('a', { v: '2' })]);
    await cluster.eventually(
      'what left the set is pruned',
      async () => !(await client.get(ConfigMap, { namespace: 'tenant', name: 'b' })),
    );
    await readyOperand(cluster, 'shop');
    await client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
    expect(await client.get(ConfigMap, { namespace: 'tenant', name: 'a' })).toBeUndefined();
    expect(asked).toEqual(new Set(['system:serviceaccount:tenant:deployer']));
  });

  test('that may not write a member says who may not do what, and touches nothing else', async () => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    await runOperator(cluster);
    const account: KubeObject = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: 'tenant', name: 's' },
    };
    await client.create(operand('shop', [account], tenant));
    const message = installMessage(await operandWithReason(cluster, 'shop', 'Failed'));
    expect(message).toContain('ServiceAccount tenant/s');
    expect(message).toMatch(
      /User "system:serviceaccount:tenant:deployer" cannot (get|patch) resource "serviceaccounts" in API group "" in the namespace "tenant"/,
    );
    expect(message).toContain('allow it with a role');
    expect(await client.get(ServiceAccount, { namespace: 'tenant', name: 's' })).toBeUndefined();
    for (const object of role('accounts', ['serviceaccounts'], all)) await client.create(object);
    await cluster.eventually(
      'the right that is given wakes the Operand',
      async () => isConditionTrue(await client.get(Operand, { name: 'shop' }), 'Ready'),
      { withinMs: 10_000 },
    );
  });

  test('cannot reach what only the operator may: another namespace, another Operand, a source', async () => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    await runOperator(cluster);
    const inner = operand('inner', [configMap('stolen')]) as KubeObject;
    for (const [name, member] of [
      ['elsewhere', configMap('stolen')],
      ['nested', inner],
    ] as const) {
      await client.create(operand(name, [member], tenant));
      expect(installMessage(await operandWithReason(cluster, name, 'Failed'))).toContain('cannot');
    }
    const foreign: KubeObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name: 'foreign' },
      stringData: { all: JSON.stringify(inTenant('leaked', { value: 'canary-31' })) },
    };
    await client.create(foreign);
    const source = { kind: 'Secret', namespace: 'default', name: 'foreign' };
    await client.create(operand('reader', [], { ...tenant, steadyStateFrom: [source] }));
    const refused = await operandWithReason(cluster, 'reader', 'Failed');
    expect(installMessage(refused)).toContain('the server refused get Secret.v1 default/foreign (403 Forbidden)');
    expect(JSON.stringify(refused)).not.toContain('canary-31');
    expect(await client.get(ConfigMap, { namespace: 'default', name: 'stolen' })).toBeUndefined();
    expect(await client.get(ConfigMap, { namespace: 'tenant', name: 'leaked' })).toBeUndefined();
    expect(await client.get(Operand, { name: 'inner' })).toBeUndefined();
  });

  test('leaves nothing in a namespace in which the account may write nothing, not even an ActiveOperand', async () => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    await runOperator(cluster);
    await client.create(operand('shop', [inTenant('mine'), configMap('theirs')], tenant));
    await operandWithReason(cluster, 'shop', 'Failed');
    const message = await cluster.eventually('the set says why', async () =>
      (await Array.fromAsync(client.list(ClusterActiveOperand)))
        .map((set) => findCondition(set, 'NamespaceDelegatesReady')?.message ?? '')
        .find((text) => text.includes('may write none')),
    );
    expect(message).toContain('ns: default, err the account of the Operand may write none of the members there');
    await cluster.advance(5_000);
    const mirrors = await Array.fromAsync(client.list(ActiveOperand));
    expect(mirrors.map(({ metadata }) => metadata.namespace)).toEqual(['tenant']);
  });

  test('that may see no Secrets can be rolled back, and deleted without its objects, all the same', async () => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    await runOperator(cluster);
    const settings = { ...tenant, onFailure: 'Rollback', deletionPolicy: 'Orphan' };
    await client.create(operand('shop', [inTenant('a', { v: '1' })], settings));
    const ready = await cluster.eventually('the manifest is kept', async () => {
      const found = await readyOperand(cluster, 'shop');
      return isConditionTrue(found, 'RollbackPossible') ? found : undefined;
    });
    expect(ready.metadata.name).toBe('shop');
    await client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
    expect((await client.get(ConfigMap, { namespace: 'tenant', name: 'a' }))?.data).toEqual({ v: '1' });
  });

  test('needs the namespace of the account', async () => {
    await using cluster = await tenantCluster();
    await runOperator(cluster);
    await cluster.client.create(operand('shop', [inTenant('a')], { serviceAccountName: 'deployer' }));
    const refused = await operandWithReason(cluster, 'shop', 'InvalidManifest');
    expect(installMessage(refused)).toContain('spec.serviceAccountNamespace: is required with serviceAccountName');
    expect(await cluster.client.get(ConfigMap, { namespace: 'tenant', name: 'a' })).toBeUndefined();
  });
});

describe('the settings of the operator', () => {
  const withFlags = (flags: Record<string, string>) => operandOperator.controllers({ flags, env: {} });

  test('--default-service-account is used where an Operand names none', async () => {
    await using cluster = await tenantCluster();
    await cluster.run(withFlags({ 'default-service-account': 'tenant/deployer' }));
    await cluster.client.create(operand('shop', [inTenant('a')]));
    await readyOperand(cluster, 'shop');
    await cluster.client.create(operand('other', [configMap('stolen')]));
    expect(installMessage(await operandWithReason(cluster, 'other', 'Failed'))).toContain(
      'User "system:serviceaccount:tenant:deployer" cannot',
    );
  });

  test('--default-service-account has to be NAMESPACE/NAME', () => {
    expect(() => withFlags({ 'default-service-account': 'deployer' })).toThrow('must be NAMESPACE/NAME');
  });

  test('--require-service-account refuses an Operand without one', async () => {
    await using cluster = await tenantCluster();
    await cluster.run(withFlags({ 'require-service-account': 'true' }));
    await cluster.client.create(operand('shop', [inTenant('a')]));
    const refused = await operandWithReason(cluster, 'shop', 'InvalidManifest');
    expect(installMessage(refused)).toContain('spec.serviceAccountName: is required by this operator');
    expect(await cluster.client.get(ConfigMap, { namespace: 'tenant', name: 'a' })).toBeUndefined();
  });

  test('--require-service-account: an Operand that lost its account is not deleted with the rights of the operator', async () => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    await cluster.run(withFlags({ 'require-service-account': 'true' }));
    await client.create(operand('shop', [inTenant('a')], tenant));
    await readyOperand(cluster, 'shop');
    const accountOf = (account: string | null, namespace: string | null) =>
      client.patch(
        Operand,
        { name: 'shop' },
        { type: 'merge', body: { spec: { serviceAccountName: account, serviceAccountNamespace: namespace } } },
      );
    await accountOf(null, null);
    await operandWithReason(cluster, 'shop', 'InvalidManifest');
    await client.delete(Operand, { name: 'shop' });
    const refused = await operandWithReason(cluster, 'shop', 'DeleteFailed');
    expect(installMessage(refused)).toContain('spec.serviceAccountName: is required by this operator');
    expect(await client.get(ConfigMap, { namespace: 'tenant', name: 'a' })).toBeDefined();
    await accountOf(tenant.serviceAccountName, tenant.serviceAccountNamespace);
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
    expect(await client.get(ConfigMap, { namespace: 'tenant', name: 'a' })).toBeUndefined();
  });

  test('--require-service-account: an Operand that never had an account can be deleted', async () => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    await cluster.run(withFlags({ 'require-service-account': 'true' }));
    await client.create(operand('shop', [inTenant('a')]));
    await operandWithReason(cluster, 'shop', 'InvalidManifest');
    await client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
  });

  test('--require-service-account: sets made by hand, which have no account, own nothing and say why', async () => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    await cluster.run(withFlags({ 'require-service-account': 'true' }));
    await client.create(inTenant('victim'));
    const { apiVersion } = Operand;
    const live = (namespace: string) => [
      { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespace, name: 'victim' },
    ];
    await client.create({
      apiVersion,
      kind: 'ActiveOperand',
      metadata: { namespace: 'tenant', name: 'by-hand' },
      spec: { live: live('tenant') },
    } as KubeObject);
    await client.create({
      apiVersion,
      kind: 'ClusterActiveOperand',
      metadata: { name: 'also-by-hand' },
      spec: {
        live: [
          { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespace: '', name: 'tenant' },
          ...live('tenant'),
        ],
      },
    } as KubeObject);
    const unready = async (found: ActiveOperand | ClusterActiveOperand | undefined) => {
      const ready = findCondition(found, 'Ready');
      return ready?.status === 'False' && ready.message?.includes('has no ServiceAccount') ? ready : undefined;
    };
    await cluster.eventually('the set says why', async () =>
      unready(await client.get(ActiveOperand, { namespace: 'tenant', name: 'by-hand' })),
    );
    await cluster.eventually('the cluster-wide one, too', async () =>
      unready(await client.get(ClusterActiveOperand, { name: 'also-by-hand' })),
    );
    const victim = await client.get(ConfigMap, { namespace: 'tenant', name: 'victim' });
    expect(victim?.metadata.ownerReferences).toBeUndefined();
    const sets = await Array.fromAsync(client.list(ActiveOperand));
    expect(sets.map(({ metadata }) => metadata.name)).toEqual(['by-hand']);
  });

  test('--no-cross-namespace-refs refuses sources outside the namespace of the account', async () => {
    await using cluster = await tenantCluster();
    await cluster.run(withFlags({ 'no-cross-namespace-refs': 'true' }));
    const source = (namespace: string) => ({
      steadyStateFrom: [{ kind: 'ConfigMap', namespace, name: 'source' }],
    });
    await cluster.client.create(inTenant('source', { all: JSON.stringify(inTenant('a')) }));
    await cluster.client.create(operand('far', [], { ...tenant, ...source('default') }));
    expect(installMessage(await operandWithReason(cluster, 'far', 'InvalidManifest'))).toContain(
      'spec.steadyStateFrom[0].namespace: must be tenant',
    );
    await cluster.client.create(operand('homeless', [], source('tenant')));
    expect(installMessage(await operandWithReason(cluster, 'homeless', 'InvalidManifest'))).toContain(
      'spec.steadyStateFrom[0].namespace: is refused without serviceAccountName',
    );
    await cluster.client.create(operand('near', [], { ...tenant, ...source('tenant') }));
    await readyOperand(cluster, 'near');
  });
});

describe('the admission policy of docs/operand.md', () => {
  const page = join(import.meta.dirname, '..', '..', '..', 'docs', 'operand.md');

  test('lets a tenant name the accounts he may impersonate, and no other', async () => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    const policy = /^```yaml\n([^`]*ValidatingAdmissionPolicy\n[^`]*)^```$/m.exec(await readFile(page, 'utf8'))![1]!;
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'tina' }];
    const writing = { apiGroups: [Operand.group], resources: ['operands'], verbs: all };
    const acting = {
      apiGroups: [''],
      resources: ['serviceaccounts'],
      resourceNames: ['deployer'],
      verbs: ['impersonate'],
    };
    for (const object of [
      ...rights('ClusterRole', {}, [writing], subjects),
      ...rights('Role', { namespace: 'tenant' }, [acting], subjects),
      ...parseManifests(policy),
    ])
      await client.create(object);
    const tina = client.actingAs('tina');
    const write = (account: object) =>
      tina.create(operand('shop', [inTenant('a')], { ...account }), { dryRun: true }).then(
        () => 'taken',
        (error: unknown) => (error as KubeError).code,
      );
    // The real server takes a policy to heart a moment after it was written.
    await cluster.eventually('the policy is in force', async () => (await write({})) === 422);
    expect(await write(tenant)).toBe('taken');
    for (const account of [
      { serviceAccountName: 'deployer', serviceAccountNamespace: 'kube-system' },
      { serviceAccountName: 'default', serviceAccountNamespace: 'tenant' },
      { serviceAccountName: 'deployer' },
    ])
      expect(await write(account)).toBe(422);

    await runOperator(cluster);
    await tina.create(operand('shop', [inTenant('a')], tenant));
    await readyOperand(cluster, 'shop');
    const stolen = { spec: { serviceAccountNamespace: 'kube-system' } };
    await expect(tina.patch(Operand, { name: 'shop' }, { type: 'merge', body: stolen })).rejects.toThrow(
      'spec.serviceAccountName must be an account you may impersonate',
    );
    await tina.delete(Operand, { name: 'shop' });
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
  });
});

const smallRole = operandOperator.permissionVariants!.find(({ name }) => name === 'impersonate')!;

test
  .skipIf(skipped(onReference, 'the operator under its own roles on the real API server: a user of its own is needed'))
  .each([
    ['small', { 'require-service-account': 'true' }, () => smallRole.permissions('')],
    ['usual', {}, () => operandOperator.permissions],
  ] as const)(
  'under the %s role alone the operator installs, heals, prunes and deletes for the account',
  async (_role, flags, rules) => {
    await using cluster = await tenantCluster();
    const { client } = cluster;
    // Leases and events every manager needs.
    const manager = [
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
    ];
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'small' }];
    for (const object of rights('ClusterRole', {}, [...(await rules()), ...manager], subjects, 'small'))
      await client.create(object);
    const user = { name: 'small', groups: ['system:authenticated'] };
    const transport: Transport = cluster.embedded!.transportFor({ user });
    const { manager: running } = await cluster.run(operandOperator.controllers({ flags, env: {} }), {
      cluster: { transport },
    });
    await client.create(inTenant('source', { all: JSON.stringify(inTenant('fed', { v: '1' })) }));
    const source = { kind: 'ConfigMap', namespace: 'tenant', name: 'source' };
    const many = Array.from({ length: 30 }, (_, index) => inTenant(`m${index}`, { v: '1' }));
    await client.create(operand('shop', many, { ...tenant, steadyStateFrom: [source] }));
    await readyOperand(cluster, 'shop');
    const key = (name: string) => ({ namespace: 'tenant', name });
    // No watch tells of members and sources; they are looked at every minute.
    await client.delete(ConfigMap, key('m0'));
    await cluster.eventually('a deleted member is back', () => client.get(ConfigMap, key('m0')), { withinMs: 70_000 });
    await client.patch(ConfigMap, key('source'), {
      type: 'merge',
      body: { data: { all: JSON.stringify(inTenant('fed', { v: '2' })) } },
    });
    await cluster.eventually(
      'a changed source is followed',
      async () => (await client.get(ConfigMap, key('fed')))?.data?.['v'] === '2',
      { withinMs: 70_000 },
    );
    await changeTo(cluster, 'shop', many.slice(1));
    await cluster.eventually('a member is pruned', async () => !(await client.get(ConfigMap, key('m0'))));
    await readyOperand(cluster, 'shop');
    expect(
      running
        .cluster()
        .cache.status()
        .filter(({ problem }) => problem !== undefined),
    ).toEqual([]);
    await client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
    expect(await client.get(ConfigMap, key('m1'))).toBeUndefined();
  },
);
