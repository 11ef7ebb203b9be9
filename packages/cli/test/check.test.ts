import { CustomResourceDefinition, Lease, newObject, type Client, type KubeObject } from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import type { Finding } from '../src/check/finding.ts';
import { checkServer } from '../src/check/server.ts';
import { call, servedCluster, type ServedCluster } from './kit.ts';

const first = operandOperator.kinds[0]!;
const definition = `${first.plural}.${first.group}`;

const check = (cluster: ServedCluster, ...argv: string[]) =>
  call(['check', 'operand', '--kubeconfig', cluster.kubeconfig, ...argv]);

async function installed(): Promise<ServedCluster> {
  return await servedCluster({ crds: [(await call(['crds'])).out] });
}

/** What was found about a thing. */
async function findings(cluster: ServedCluster, subject: string): Promise<Finding[]> {
  const { out } = await check(cluster, '-o', 'json');
  return (JSON.parse(out) as Finding[]).filter((finding) => finding.subject.startsWith(subject));
}

function deployment(namespace: string, version: string, managedBy: string): KubeObject {
  const labels = {
    'app.kubernetes.io/name': 'slipway',
    'app.kubernetes.io/component': 'operand',
    'app.kubernetes.io/managed-by': managedBy,
    'app.kubernetes.io/version': version,
  };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'slipway', image: 'slipway' }] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'slipway-operand', namespace, labels },
    spec: { replicas: 0, selector: { matchLabels: labels }, template },
  };
}

test('an empty cluster: nothing stands in the way, and what to do comes with it', async () => {
  await using cluster = await servedCluster();
  const { code, out } = await check(cluster);
  expect(code).toBe(0);
  expect(out).toMatch(/^ok {7}server: Kubernetes v1\.\d+\.\S+ answers\n/);
  expect(out).toMatch(/^ok {7}permissions of operand: you have all \d+\n/m);
  expect(out).toContain(
    `note     definition ${definition}: it is not installed\n         slipway install operand puts it there\n`,
  );
  expect(out).toMatch(/^ok {7}conflicts: nobody else manages these kinds\nnothing stands in the way\n$/m);
});

test('it looks and writes nothing', async () => {
  await using cluster = await installed();
  const before = await cluster.client.get(CustomResourceDefinition, { name: definition });
  await check(cluster);
  expect(await cluster.client.get(CustomResourceDefinition, { name: definition })).toEqual(before);
});

test('-o yaml prints the findings as data', async () => {
  await using cluster = await servedCluster({ controllers: 'none' });
  expect(parse((await check(cluster, '-o', 'yaml')).out)).toContainEqual(
    expect.objectContaining({ verdict: 'ok', subject: 'server' }),
  );
});

describe('definitions', () => {
  test('of this version', async () => {
    await using cluster = await servedCluster();
    expect((await call(['install', 'operand', '--no-wait', '--kubeconfig', cluster.kubeconfig])).code).toBe(0);
    expect(await findings(cluster, `definition ${definition}`)).toEqual([
      {
        verdict: 'ok',
        subject: `definition ${definition}`,
        message: 'it is served, of this version, from slipway install',
      },
    ]);
  });

  test('of another version are brought up to date', async () => {
    await using cluster = await servedCluster();
    await call(['install', 'operand', '--no-wait', '--kubeconfig', cluster.kubeconfig]);
    await cluster.client.patch(
      CustomResourceDefinition,
      { name: definition },
      {
        type: 'json',
        operations: [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/description', value: 'older' }],
      },
    );
    const [found] = await findings(cluster, `definition ${definition}`);
    expect(found).toMatchObject({ verdict: 'note', next: 'slipway install operand brings it up to date' });
    expect(found!.message).toMatch(/^it is of another version \(spec\.versions.*\), from slipway install$/);
  });

  test('of a Helm release are the release’s', async () => {
    await using cluster = await installed();
    const annotations = { 'meta.helm.sh/release-name': 'boat', 'meta.helm.sh/release-namespace': 'bay' };
    await cluster.client.patch(
      CustomResourceDefinition,
      { name: definition },
      {
        type: 'merge',
        body: { metadata: { annotations } },
      },
    );
    const [found] = await findings(cluster, `definition ${definition}`);
    expect(found!.message).toMatch(/^it is from Helm release boat in namespace bay/);
    expect(found!.next).toMatch(/^go on with helm upgrade boat -n bay/);
  });

  test('with versions this command does not know are a problem', async () => {
    await using cluster = await installed();
    const live = await cluster.client.get(CustomResourceDefinition, { name: definition });
    await cluster.client.update(
      { ...live!, status: { ...live!.status!, storedVersions: ['v9', first.version] } },
      { subresource: 'status' },
    );
    const [found] = await findings(cluster, `definition ${definition}`);
    expect(found).toMatchObject({
      verdict: 'problem',
      message: 'objects are stored as v9, which this version does not know',
    });
    expect((await check(cluster)).code).toBe(1);
  });

  test('whose names are taken are a problem', async () => {
    const other = (await call(['crds'])).out.split('---\n')[0]!.replaceAll('operands', 'others');
    await using cluster = await servedCluster({ crds: [other, (await call(['crds'])).out] });
    const [found] = await findings(cluster, `definition ${definition}`);
    expect(found).toMatchObject({
      verdict: 'problem',
      message: expect.stringMatching(/^it is not served: /) as string,
    });
  });
});

test('rights that are missing are named, with how to get them', async () => {
  const tokens = [{ token: 'stranger', user: 'stranger' }];
  await using cluster = await servedCluster({ authorization: 'RBAC', tokens });
  const server = { name: 'c', cluster: { server: cluster.cluster.url } };
  const config = {
    clusters: [server],
    users: [{ name: 'u', user: { token: 'stranger' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  };
  const file = await cluster.file('stranger', JSON.stringify(config));
  const { code, out } = await call(['check', 'operand', '--kubeconfig', file]);
  expect(out).toMatch(
    /^problem {2}permissions of operand: you may not .* operands\.operand\.run\.cloud\.google\.com, .* and \d+ more\n/m,
  );
  expect(out).toContain('         ask for what `slipway rbac operand` prints, or use another --context\n');
  expect(out).toMatch(/\d problems to solve first\n$/);
  expect(code).toBe(1);
});

describe('conflicts', () => {
  test('an installation of another version, by Helm', async () => {
    await using cluster = await servedCluster({ controllers: 'none' });
    await cluster.client.create(deployment('default', '0.1.0', 'Helm'));
    expect(await findings(cluster, 'installation')).toEqual([
      {
        verdict: 'note',
        subject: 'installation of operand',
        message: 'default/slipway-operand is of version 0.1.0, this is 9.9.9',
        next: 'helm upgrade brings it to this version',
      },
    ]);
  });

  test('two installations of one operator', async () => {
    await using cluster = await servedCluster({ controllers: 'none' });
    await cluster.client.create(deployment('default', '9.9.9', 'Helm'));
    await cluster.client.create(deployment('kube-system', '9.9.9', 'slipway'));
    const [found] = await findings(cluster, 'installation');
    expect(found).toMatchObject({
      verdict: 'problem',
      message: 'it is there 2 times: default/slipway-operand, kube-system/slipway-operand',
    });
  });

  test('who leads is said; two who lead by different leases are a problem; a lease that ran out is nobody’s', async () => {
    await using cluster = await servedCluster({ controllers: 'none' });
    const lease = (namespace: string, holderIdentity: string, renewed = new Date()) =>
      cluster.client.create(
        newObject(Lease, {
          metadata: { name: 'slipway-operand', namespace },
          spec: {
            holderIdentity,
            leaseDurationSeconds: 3600,
            renewTime: renewed.toISOString().replace('Z', '000Z'),
          },
        }),
      );
    await lease('kube-public', 'late', new Date(0));
    await lease('default', 'ann');
    expect(await findings(cluster, 'leader')).toEqual([
      {
        verdict: 'ok',
        subject: 'leader of operand',
        message: expect.stringMatching(/^ann by default\/slipway-operand, renewed \d+s ago$/) as string,
      },
    ]);
    await lease('kube-system', 'bob');
    const [found] = await findings(cluster, 'leader');
    expect(found).toMatchObject({
      verdict: 'problem',
      message: expect.stringMatching(/^there are 2: ann by .*; bob by /) as string,
    });
    expect((await check(cluster)).out).toMatch(/1 problem to solve first\n$/);
  });

  test('somebody else who writes the status of our kinds', async () => {
    await using cluster = await installed();
    await cluster.client.create({
      apiVersion: first.apiVersion,
      kind: first.kind,
      metadata: { name: 'shop' },
      spec: {},
    });
    await cluster.client.patch(
      first,
      { name: 'shop' },
      { type: 'merge', body: { status: { observedGeneration: 1 } } },
      { subresource: 'status', fieldManager: 'the-original' },
    );
    expect(await findings(cluster, 'Operand')).toEqual([
      {
        verdict: 'problem',
        subject: 'Operand shop',
        message: 'its status is written by the-original, which is not Operand',
        next: 'stop the other operator of this kind before this one runs',
      },
    ]);
  });
});

describe('the server', () => {
  const asked = async (minor: string, policies: readonly KubeObject[] = []) => {
    const client = {
      serverVersion: async () => ({ major: '1', minor, gitVersion: `v1.${minor}.0` }),
    } as unknown as Client;
    const operators = [{ ...operandOperator, policies }];
    return await checkServer({
      client,
      operators,
      packageFlag: () => '',
      packageOf: () => undefined,
      version: '',
      clock: undefined as never,
      signal: new AbortController().signal,
    });
  };

  test('is new enough for rules in definitions, or for admission policies', async () => {
    expect(await asked('25+')).toEqual([{ verdict: 'ok', subject: 'server', message: 'Kubernetes v1.25+.0 answers' }]);
    expect(await asked('24')).toMatchObject([{ verdict: 'problem', message: 'Kubernetes v1.24.0 is older than 1.25' }]);
    expect(await asked('29', [deployment('a', 'b', 'c')])).toMatchObject([
      { verdict: 'problem', next: 'upgrade the cluster, or name operators without admission policies' },
    ]);
  });
});
