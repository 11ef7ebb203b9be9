import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  ServiceAccount,
  toCustomResourceDefinition,
} from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import { parseManifests } from '@slipway/manifests';
import type { OperatorDescription } from '@slipway/runtime';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { installMembership } from '../src/installed-set.ts';
import { Call, call, servedCluster, type ServedCluster } from './kit.ts';

const on = (cluster: ServedCluster, command: string, ...flags: string[]) =>
  call([command, '--kubeconfig', cluster.kubeconfig, ...flags]);
const deploymentKey = { namespace: 'slipway-system', name: 'slipway-operand' };
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
    expect(first.out).toContain('  created    Deployment.apps slipway-system/slipway-operand\n');
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

  test('again without --image and --replicas it keeps what it was told, and says so', async () => {
    await using cluster = await servedCluster();
    await on(cluster, 'install', '--no-wait', '--image', 'here:5000/slipway@sha256:1', '--replicas', '1');
    const again = await on(cluster, 'install', '--no-wait', '--set', 'log-level=debug');
    expect(again.out).toContain(
      'operand keeps its image here:5000/slipway@sha256:1; --image NAME runs another\n' +
        'operand keeps its number of pods, 1; --replicas N has another\n',
    );
    const pods = async () => {
      const { replicas, template } = (await cluster.client.get(Deployment, deploymentKey))!.spec!;
      return { replicas, image: template.spec!.containers[0]!.image };
    };
    expect(await pods()).toEqual({ replicas: 1, image: 'here:5000/slipway@sha256:1' });

    // What nobody has put elsewhere comes with the version of the command.
    await on(cluster, 'install', '--no-wait', '--image', 'slipway:0.0.1', '--replicas', '2');
    expect((await on(cluster, 'install', '--no-wait')).out).not.toContain('keeps');
    expect(await pods()).toEqual({ replicas: 2, image: 'slipway:9.9.9' });
  });

  test('the version its objects are labelled with is that of the image: one that is kept keeps it, and check says so', async () => {
    await using cluster = await servedCluster();
    const older = (...flags: string[]) =>
      call(['install', '--kubeconfig', cluster.kubeconfig, '--no-wait', ...flags], { version: '9.9.8' });
    const labels = async () => {
      const { metadata, spec } = (await cluster.client.get(Deployment, deploymentKey))!;
      return [metadata, spec!.template.metadata!].map((each) => each.labels?.['app.kubernetes.io/version']);
    };
    await older('--image', 'here/slipway:1');
    expect(await labels()).toEqual(['9.9.8', '9.9.8']);
    const kept = await on(cluster, 'install', '--no-wait');
    expect(kept.out).toContain('operand keeps its image here/slipway:1 of version 9.9.8; --image NAME runs another\n');
    expect(await labels()).toEqual(['9.9.8', '9.9.8']);
    expect((await on(cluster, 'check')).out).toContain(
      'slipway-system/slipway-operand is of version 9.9.8, this is 9.9.9\n' +
        '         slipway install operand --image NAME brings it to this version\n',
    );

    await on(cluster, 'install', '--no-wait', '--image', 'here/slipway:2');
    expect(await labels()).toEqual(['9.9.9', '9.9.9']);
    await older('--image', 'slipway:9.9.8');
    expect(await labels()).toEqual(['9.9.8', '9.9.8']);
    expect((await on(cluster, 'check')).out).toContain('slipway install operand brings it to this version\n');
    await on(cluster, 'install', '--no-wait');
    expect(await labels()).toEqual(['9.9.9', '9.9.9']);
  });

  test.each(['--dry-run', '--dry-run=client'])('%s is told how it is called here', async (flag) => {
    expect(await call(['install', flag])).toEqual({
      code: 2,
      out: '',
      err: `slipway: unknown option '${flag}'\n  --print prints what would be applied; slipway install --help lists its flags\n`,
    });
  });

  test('--namespace that was there before is used and stays', async () => {
    await using cluster = await servedCluster();
    expect((await on(cluster, 'install', '--namespace', 'default')).code).toBe(0);
    expect((await on(cluster, 'uninstall')).code).toBe(0);
    expect(await cluster.client.get(Namespace, { name: 'default' })).toMatchObject({ status: { phase: 'Active' } });
    expect(await cluster.client.get(ServiceAccount, { namespace: 'default', name: 'slipway-operand' })).toBeUndefined();
  });

  test('another namespace than the one it is in is refused with what to do; without --namespace it stays there', async () => {
    await using cluster = await servedCluster();
    await on(cluster, 'install', '--no-wait', '--namespace', 'here');
    const refused = await on(cluster, 'install', '--namespace', 'there');
    expect(refused.err).toBe(
      'slipway: slipway is installed in namespace here, not there\n  leave --namespace out to bring it up to date there, or run slipway uninstall first\n',
    );
    expect(refused.code).toBe(1);
    expect(await cluster.client.get(Namespace, { name: 'there' })).toBeUndefined();
    expect((await on(cluster, 'install', '--no-wait')).out).toContain('in namespace here');
  });

  test('--timeout names what it was still waiting for', async () => {
    await using cluster = await servedCluster({ controllers: 'core' });
    await on(cluster, 'install', '--no-wait');
    const { code, err, out } = await on(cluster, 'install', '--timeout', '1ms');
    expect(out).toContain('waiting for Deployment slipway-system/slipway-operand');
    expect(err).toMatch(
      /^slipway: gave up after 1ms, still waiting for Deployment slipway-system\/slipway-operand.*\n {2}nothing was undone/,
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

describe('a second operator', () => {
  const second: OperatorDescription = {
    ...operandOperator,
    name: 'second',
    kinds: [],
    flags: [{ name: 'pace', description: 'How fast.', type: 'duration' }],
  };
  const operators = [operandOperator, second];
  const accounts = async (cluster: ServedCluster) => {
    const found = [];
    for await (const { metadata } of cluster.client.list(ServiceAccount, { namespace: 'slipway-system' }))
      if (metadata.name !== 'default') found.push(metadata.name);
    return found;
  };

  test('is added: the first keeps its pods, its role and its account', async () => {
    await using cluster = await servedCluster();
    const install = (...argv: string[]) =>
      call(['install', ...argv, '--no-wait', '--kubeconfig', cluster.kubeconfig], { operators });
    await install('operand');
    const before = await cluster.client.get(Deployment, deploymentKey);
    const role = await cluster.client.get(ClusterRole, { name: 'slipway-operand' });
    const { code, out } = await install('second');
    expect(code).toBe(0);
    expect(out).not.toContain('deleted');
    expect(await cluster.client.get(Deployment, deploymentKey)).toEqual(before);
    expect(await cluster.client.get(ClusterRole, { name: 'slipway-operand' })).toEqual(role);
    expect(await accounts(cluster)).toEqual(['slipway-operand', 'slipway-second']);
  });

  test('each account may do what its operator needs, and nothing of the other', async () => {
    const { out } = await call(['install', '--print'], { operators });
    const objects = parseManifests(out, { source: 'print' });
    const bound = (role: string) =>
      objects.filter((object) => object.kind.endsWith('RoleBinding') && object.metadata.name === role);
    for (const name of ['slipway-operand', 'slipway-second']) {
      expect(bound(name)).toHaveLength(1);
      expect(bound(name)[0]).toMatchObject({ subjects: [{ name }] });
      expect(objects).toContainEqual(
        expect.objectContaining({
          kind: 'Deployment',
          metadata: expect.objectContaining({ name }) as unknown,
          spec: expect.objectContaining({
            template: expect.objectContaining({
              spec: expect.objectContaining({ serviceAccountName: name }) as unknown,
            }) as unknown,
          }) as unknown,
        }),
      );
    }
  });

  test('--remove takes one off, by the rules of uninstall', async () => {
    await using cluster = await servedCluster();
    const install = (...argv: string[]) =>
      call(['install', ...argv, '--kubeconfig', cluster.kubeconfig], { operators });
    await install('--no-wait');
    await cluster.client.create({
      apiVersion: operandOperator.kinds[0]!.apiVersion,
      kind: 'Operand',
      metadata: { name: 'mine' },
      spec: {},
    });
    const refused = await install('--remove', 'operand');
    expect(refused.err).toMatch(/^slipway: 1 object is still managed: Operand mine\n {2}delete them first/);
    expect(refused.code).toBe(1);
    expect(await accounts(cluster)).toEqual(['slipway-operand', 'slipway-second']);

    const { code, out } = await install('--remove', 'operand', '--force');
    expect(code).toBe(0);
    expect(out).toContain('  deleted    Operand mine\n');
    expect(out).toContain('removed operand\n');
    expect(await accounts(cluster)).toEqual(['slipway-second']);
    expect(await cluster.client.get(CustomResourceDefinition, { name: firstDefinition })).toBeUndefined();
    expect((await install('--remove', 'operand')).code).toBe(5);
  });

  test('to install and remove the same operator at once is wrong usage', async () => {
    const { code, err } = await call(['install', 'second', '--remove', 'second'], { operators });
    expect(err).toContain('second cannot be installed and removed at once');
    expect(code).toBe(2);
  });

  test('one Deployment for all, as an earlier version made it, gives way to one for each it ran', async () => {
    await using cluster = await servedCluster();
    const label = { [installMembership.label]: installMembership.value };
    const shared = { name: 'slipway', namespace: 'slipway-system', labels: label };
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'slipway-system', labels: label },
    });
    const template = {
      metadata: { labels: { app: 'slipway' } },
      spec: { containers: [{ name: 'manager', image: 'old', args: ['run', 'operand', 'second', '--leader-elect'] }] },
    };
    const spec = { replicas: 0, selector: { matchLabels: { app: 'slipway' } }, template };
    await cluster.client.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: shared, spec });
    const { code, out } = await call(['install', 'second', '--no-wait', '--kubeconfig', cluster.kubeconfig], {
      operators,
    });
    expect(code).toBe(0);
    expect(out).toMatch(/deleted +Deployment\.apps slipway-system\/slipway\n/);
    expect(await accounts(cluster)).toEqual(['slipway-operand', 'slipway-second']);
  });

  describe('settings reach its pods', () => {
    const podsOf = async (cluster: ServedCluster) => {
      const key = { namespace: 'slipway-system', name: 'slipway-second' };
      const container = (await cluster.client.get(Deployment, key))?.spec?.template.spec?.containers[0];
      const config = await cluster.client.get(ConfigMap, { ...key, name: `${key.name}-config` });
      return {
        args: container?.args,
        env: container?.env,
        config: config && (parse(config.data!['config.yaml']!) as Record<string, unknown>),
      };
    };

    test('by its flag, --set, --env and --config; later ones are added, an empty one takes back', async () => {
      await using cluster = await servedCluster();
      await cluster.file('settings.yaml', 'log-level: debug\n');
      const install = (...argv: string[]) =>
        call(['install', 'second', '--no-wait', '--kubeconfig', cluster.kubeconfig, ...argv], {
          operators,
          cwd: cluster.folder,
        });
      await install('--second-pace', '7s', '--config', 'settings.yaml', '--env', 'HTTPS_PROXY=http://proxy:1');
      const first = await podsOf(cluster);
      expect(first.args).toContain('--config=/etc/slipway/config.yaml');
      expect(first.config).toEqual({ 'log-level': 'debug', 'second-pace': '7s' });
      expect(first.env).toEqual([{ name: 'HTTPS_PROXY', value: 'http://proxy:1' }]);

      await install('--set', 'pace=8s');
      expect(await podsOf(cluster)).toMatchObject({
        config: { 'log-level': 'debug', 'second-pace': '8s' },
        env: first.env,
      });

      await install('--set', 'pace=', '--set', 'log-level=', '--env', 'HTTPS_PROXY=');
      const last = await podsOf(cluster);
      expect([last.config, last.env]).toEqual([undefined, undefined]);
      expect(last.args).not.toContain('--config=/etc/slipway/config.yaml');
    });

    test('other settings make other pods', async () => {
      const digest = async (pace: string) =>
        /checksum\/config: (\w+)/.exec(
          (await call(['install', 'second', '--print', '--set', `pace=${pace}`], { operators })).out,
        )?.[1];
      expect(await digest('1s')).toBe(await digest('1s'));
      expect(await digest('1s')).not.toBe(await digest('2s'));
    });

    test.each([
      [['--set', 'frob=1'], "--set: there is no setting 'frob' for second"],
      [['--set', 'metrics-port=1'], 'install decides it itself'],
      [['--set', 'pace'], "--set must be NAME=VALUE, not 'pace'"],
      [['--env', '=x'], "--env must be NAME=VALUE, not '=x'"],
    ])('%j is wrong usage', async (argv, message) => {
      const { code, err } = await call(['install', 'second', '--print', ...argv], { operators });
      expect(err).toContain(message);
      expect(code).toBe(2);
    });
  });
});

describe('definitions that came with Helm', () => {
  const helmDefinition = async (cluster: ServedCluster) => {
    const definition = toCustomResourceDefinition(operandOperator.kinds[0]!);
    await cluster.client.create({
      ...definition,
      metadata: {
        ...definition.metadata,
        labels: { 'app.kubernetes.io/managed-by': 'Helm' },
        annotations: { 'meta.helm.sh/release-name': 'slipway', 'meta.helm.sh/release-namespace': 'default' },
      },
    });
  };

  test('are refused with what to do when the release is gone; --adopt takes them over with their objects', async () => {
    await using cluster = await servedCluster();
    await helmDefinition(cluster);
    const refused = await on(cluster, 'install', '--no-wait');
    expect(refused.err).toBe(
      `slipway: Helm release slipway is gone and has left ${firstDefinition} behind\n  --adopt takes them over, with all objects of their kinds\n`,
    );
    const { code, out } = await on(cluster, 'install', '--no-wait', '--adopt');
    expect(code).toBe(0);
    expect(out).toContain(`  adopted    CustomResourceDefinition ${firstDefinition}\n`);
    const { metadata } = (await cluster.client.get(CustomResourceDefinition, { name: firstDefinition }))!;
    expect(metadata.annotations).not.toHaveProperty(['meta.helm.sh/release-name']);
    expect((await on(cluster, 'uninstall')).code).toBe(0);
    expect(await cluster.client.get(CustomResourceDefinition, { name: firstDefinition })).toBeUndefined();
  });

  test('are never taken from a release that is there', async () => {
    await using cluster = await servedCluster();
    await helmDefinition(cluster);
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'helm.sh/release.v1',
      metadata: {
        name: 'sh.helm.release.v1.slipway.v1',
        namespace: 'default',
        labels: { owner: 'helm', name: 'slipway' },
      },
    });
    const { code, err } = await on(cluster, 'install', '--adopt');
    expect(err).toContain('belongs to Helm release slipway in namespace default\n  go on with helm');
    expect(code).toBe(1);
  });
});

describe('uninstall', () => {
  test('of nothing: 5', async () => {
    await using cluster = await servedCluster();
    const { code, err } = await on(cluster, 'uninstall');
    expect(err).toMatch(/^slipway: slipway install has put nothing onto this cluster\n {2}what came with helm/);
    expect(code).toBe(5);
  });

  test('that cannot finish says what holds what it waits for', async () => {
    await using cluster = await servedCluster();
    await on(cluster, 'install', '--no-wait');
    const { apiVersion, kind } = operandOperator.kinds[0]!;
    await cluster.client.create({
      apiVersion,
      kind,
      metadata: { name: 'stuck', finalizers: ['test/stays'] },
      spec: {},
    });
    const { code, err } = await on(cluster, 'uninstall', '--force', '--timeout', '1ms');
    expect(err).toContain('still waiting for Operand stuck (finalizers test/stays)\n');
    expect(code).toBe(1);
  });

  test('that waits for its namespace says what is left in it', async () => {
    await using cluster = await servedCluster();
    await on(cluster, 'install', '--no-wait');
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'held', namespace: 'slipway-system', finalizers: ['test/stays'] },
    });
    const running = new Call(['uninstall', '--kubeconfig', cluster.kubeconfig]);
    await running.says(/waiting for Namespace slipway-system \(.*test\/stays/);
    expect(await running.stop()).toBe(130);
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
