import { Deployment, Namespace, ServiceAccount, CustomResourceDefinition } from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import { parseManifests } from '@slipway/manifests';
import { describe, expect, test } from 'vitest';

import { Call, call, servedCluster, type ServedCluster } from './kit.ts';

const on = (cluster: ServedCluster, command: string, ...flags: string[]) =>
  call([command, '--kubeconfig', cluster.kubeconfig, ...flags]);
const deploymentKey = { namespace: 'slipway-system', name: 'slipway' };
const firstDefinition = `${operandOperator.kinds[0]!.plural}.${operandOperator.kinds[0]!.group}`;

describe('install', () => {
  test('applies everything, says what it waits for, and again changes nothing', async () => {
    await using cluster = await servedCluster();
    const first = await on(cluster, 'install', '--image', 'here/slipway:1', '--replicas', '1');
    expect(first.err).toBe('');
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/^installing operand in namespace slipway-system \(/);
    expect(first.out).toContain('  created    Namespace slipway-system\n');
    expect(first.out).toContain(`  created    CustomResourceDefinition.apiextensions.k8s.io ${firstDefinition}\n`);
    expect(first.out).toContain('  created    Deployment.apps slipway-system/slipway\n');
    expect(first.out).toMatch(/ {2}waiting for /);
    expect(first.out).toContain('installed; slipway status shows what it manages\n');
    const deployment = await cluster.client.get(Deployment, deploymentKey);
    expect(deployment?.spec).toMatchObject({
      replicas: 1,
      template: {
        spec: {
          containers: [
            {
              image: 'here/slipway:1',
              args: ['run', 'operand', '--leader-elect', '--health-port=8081', '--metrics-port=8080'],
            },
          ],
        },
      },
    });
    const revision = cluster.cluster.revision;
    const second = await on(cluster, 'install', '--image', 'here/slipway:1', '--replicas', '1');
    expect(second.code).toBe(0);
    expect(second.out).not.toContain('created');
    expect(cluster.cluster.revision).toBe(revision);
  });

  test('--namespace that was there before is used and stays', async () => {
    await using cluster = await servedCluster();
    expect((await on(cluster, 'install', '--namespace', 'default')).code).toBe(0);
    expect((await on(cluster, 'uninstall')).code).toBe(0);
    expect(await cluster.client.get(Namespace, { name: 'default' })).toMatchObject({ status: { phase: 'Active' } });
    expect(await cluster.client.get(ServiceAccount, { namespace: 'default', name: 'slipway' })).toBeUndefined();
  });

  test('with other operators it takes off the roles of those that left, and keeps their definitions', async () => {
    await using cluster = await servedCluster();
    const second = { ...operandOperator, name: 'second', kinds: [] };
    const operators = [operandOperator, second];
    const install = (...names: string[]) =>
      call(['install', ...names, '--no-wait', '--kubeconfig', cluster.kubeconfig], { operators });
    expect((await install()).code).toBe(0);
    const { code, out } = await install('second');
    expect(code).toBe(0);
    expect(out).toContain('  deleted    ClusterRole.rbac.authorization.k8s.io slipway-operand\n');
    expect(await cluster.client.get(CustomResourceDefinition, { name: firstDefinition })).toBeDefined();
  });

  test('--timeout names what it was still waiting for', async () => {
    await using cluster = await servedCluster({ controllers: 'core' });
    await on(cluster, 'install', '--no-wait');
    const { code, err, out } = await on(cluster, 'install', '--timeout', '1ms');
    expect(out).toContain('waiting for Deployment.apps slipway-system/slipway');
    expect(err).toMatch(
      /^slipway: gave up after 1ms, still waiting for Deployment\.apps slipway-system\/slipway.*\n {2}nothing was undone/,
    );
    expect(code).toBe(1);
  });

  test('--no-wait does not wait until it runs', async () => {
    await using cluster = await servedCluster({ controllers: 'core' });
    const { code, out } = await on(cluster, 'install', '--no-wait');
    expect(code).toBe(0);
    expect(out).not.toContain('waiting for Deployment');
  });

  test('--print prints what would be applied and needs no cluster', async () => {
    const { code, out } = await call(['install', '--print', '--namespace', 'here']);
    expect(code).toBe(0);
    const objects = parseManifests(out, { source: 'print' });
    expect(objects.map((object) => object.kind)).toEqual(
      expect.arrayContaining([
        'Namespace',
        'CustomResourceDefinition',
        'ServiceAccount',
        'ClusterRole',
        'Deployment',
        'Service',
        'PodDisruptionBudget',
        'NetworkPolicy',
      ]),
    );
  });
});

describe('uninstall', () => {
  test('of nothing: 5', async () => {
    await using cluster = await servedCluster();
    const { code, err } = await on(cluster, 'uninstall');
    expect(err).toMatch(/^slipway: slipway install has put nothing onto this cluster\n {2}what came with helm/);
    expect(code).toBe(5);
  });

  test('takes everything off again', async () => {
    await using cluster = await servedCluster();
    await on(cluster, 'install');
    const { code, out } = await on(cluster, 'uninstall');
    expect(code).toBe(0);
    expect(out).toContain('uninstalled; nothing of slipway is left\n');
    expect(await cluster.client.get(Namespace, { name: 'slipway-system' })).toBeUndefined();
    expect(await cluster.client.get(CustomResourceDefinition, { name: firstDefinition })).toBeUndefined();
    const order = ['Deployment.apps', 'CustomResourceDefinition'].map((kind) =>
      out.search(new RegExp(`delet(ed|ing) +${kind}`)),
    );
    expect(order[0]).toBeGreaterThan(0);
    expect(order[0]).toBeLessThan(order[1]!);
  });

  test('refuses while objects are managed; --force lets the operators remove them first', async () => {
    await using cluster = await servedCluster();
    await on(cluster, 'install');
    // The cluster only simulates pods: the operators run here instead.
    const operators = new Call(['run', '--kubeconfig', cluster.kubeconfig]);
    await operators.says(/"msg":"ready"/);
    for (const object of parseManifests(operandOperator.examples[0]!.manifest, { source: 'example' }))
      await cluster.client.create(object);
    const watching = new Call(['status', '-w', '--kubeconfig', cluster.kubeconfig, '-o', 'wide']);
    await watching.says(/Operand +hello +Ready/);
    await watching.stop();

    const refused = await on(cluster, 'uninstall');
    expect(refused.err).toMatch(/^slipway: 3 objects are still managed: Operand hello, .*\n {2}delete them first/);
    expect(refused.code).toBe(1);
    expect(await cluster.client.get(Deployment, deploymentKey)).toBeDefined();

    const { code, out } = await on(cluster, 'uninstall', '--force');
    expect(code).toBe(0);
    expect(out).toContain('  deleted    Operand hello\n');
    expect(await cluster.client.get(Deployment, { namespace: 'hello', name: 'web' })).toBeUndefined();
    expect(await cluster.client.get(CustomResourceDefinition, { name: firstDefinition })).toBeUndefined();
    await operators.stop();
  });
});
