import { readFile } from 'node:fs/promises';
import { ConfigMap, type Namespace } from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import type { OperatorDescription } from '@slipway/runtime';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { Call, call, servedCluster, type ServedCluster } from './kit.ts';

/** It has no kinds; a ConfigMap says how it does. */
const lighthouse: OperatorDescription = {
  ...operandOperator,
  name: 'lighthouse',
  title: 'Lighthouse',
  kinds: [],
  shows: ['lamp', 'horn'].map((name) => ({
    kind: ConfigMap,
    namespace: 'coast',
    name,
    stateOf: (object) => (object as ConfigMap).data as { state: string; message: string },
  })),
  flags: [],
  examples: [],
};
const operators = [operandOperator, lighthouse];

async function crds(): Promise<string> {
  return (await call(['crds'], { operators })).out;
}

async function keep({ client }: ServedCluster, name: string, data: ConfigMap['data']): Promise<void> {
  const space: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'coast' } };
  const record: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'coast' }, data };
  await client.apply(space, { fieldManager: 'test' });
  await client.apply(record, { fieldManager: 'test' });
}

describe('status shows what an operator without kinds keeps its state in', () => {
  test('by its name, from whatever namespace, with what is wrong', async () => {
    await using cluster = await servedCluster({ crds: [await crds()] });
    await keep(cluster, 'lamp', { state: 'shining' });
    await keep(cluster, 'horn', { state: 'failed', message: 'out of breath' });
    const { code, out, err } = await call(['status', 'lighthouse', '--kubeconfig', cluster.kubeconfig], { operators });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/lighthouse +ConfigMap +coast\/lamp +shining/);
    expect(out).toMatch(/lighthouse +ConfigMap +coast\/horn +failed .*out of breath/);
  });

  test('beside all others, unless -n or -l asks for less', async () => {
    await using cluster = await servedCluster({ crds: [await crds()] });
    await keep(cluster, 'lamp', { state: 'shining' });
    const rows = async (...argv: string[]) =>
      (await call(['status', '-o', 'name', ...argv, '--kubeconfig', cluster.kubeconfig], { operators })).out;
    expect(await rows()).toBe('configmap/lamp\n');
    expect(await rows('-n', 'coast')).toBe('configmap/lamp\n');
    expect(await rows('-n', 'default')).toBe('');
    expect(await rows('-l', 'a=b')).toBe('');
  });

  test('and goes on without it for who may not read it', async () => {
    await using cluster = await servedCluster({
      crds: [await crds()],
      authorization: 'RBAC',
      tokens: [{ token: 'of-ann', user: 'ann' }],
    });
    await keep(cluster, 'lamp', { state: 'shining' });
    await cluster.client.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'operands' },
      rules: [{ apiGroups: ['operand.run.cloud.google.com'], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
    });
    await cluster.client.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'operands' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'operands' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
    });
    const config = parse(await readFile(cluster.kubeconfig, 'utf8')) as { users: { user: object }[] };
    config.users[0]!.user = { token: 'of-ann' };
    const asAnn = ['--kubeconfig', await cluster.file('ann', JSON.stringify(config))];
    expect(await call(['status', ...asAnn], { operators })).toMatchObject({ code: 0, err: '' });
    const operand = { apiVersion: operandOperator.kinds[0]!.apiVersion, kind: 'Operand', metadata: { name: 'hello' } };
    await cluster.client.create({ ...operand, spec: {} });
    const watching = new Call(['status', '-w', '-o', 'name', ...asAnn], { operators });
    await watching.says(/operand\.run\.cloud\.google\.com\/hello/);
    expect(watching.err).toBe('');
    expect(await watching.stop()).toBe(0);
  });
});
