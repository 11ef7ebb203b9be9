import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  connect,
  CustomResourceDefinition,
  Deployment,
  loadKubeConfig,
  newObject,
  toCustomResourceDefinition,
  type Cluster,
} from '@slipway/kube';
import { Operand } from '@slipway/operand';
import { startReferenceCluster, type ReferenceCluster } from '@slipway/reference-cluster';
import { onReference, skipped } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import type { Finding } from '../src/check/finding.ts';
import { findOperators } from '../src/packages.ts';
import { call, temporaryFolder } from './kit.ts';

const definition = 'operands.operand.run.cloud.google.com';
const isSkipped = skipped(!onReference, 'slipway check of a real API server: SLIPWAY_CLUSTER=reference runs it');

interface KubeconfigDocument {
  clusters: { cluster: { server: string } }[];
  users: { user: Record<string, unknown> }[];
}

// The tests go from an empty cluster to one with everything wrong, in this order.
describe.skipIf(isSkipped)('slipway check of a real API server', () => {
  let server: ReferenceCluster;
  let cluster: Cluster;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startReferenceCluster();
    cluster = connect(await (await loadKubeConfig({ file: server.kubeconfigPath })).connection());
  });
  afterAll(async () => {
    await cluster?.close();
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  const check = (...argv: string[]) => call(['check', 'operand', '--kubeconfig', server.kubeconfigPath, ...argv]);
  const findings = async (subject: string) =>
    (JSON.parse((await check('-o', 'json')).out) as Finding[]).filter((each) => each.subject.startsWith(subject));

  /** The administrator's kubeconfig, with something else in it. */
  async function changedConfig(name: string, change: (config: KubeconfigDocument) => void): Promise<string> {
    const config = parse(await readFile(server.kubeconfigPath, 'utf8')) as KubeconfigDocument;
    change(config);
    await writeFile(join(folder.path, name), JSON.stringify(config));
    return join(folder.path, name);
  }

  test('an empty one has room for every operator', async () => {
    const operators = await findOperators();
    const { code, out } = await call(['check', '--kubeconfig', server.kubeconfigPath], { operators });
    expect(out).toMatch(/^ok {7}server: Kubernetes v1\.\d+\.\d+\S* answers\n/);
    for (const { name, kinds } of operators) {
      expect(out).toMatch(new RegExp(`^ok {7}permissions of ${name}: you have all \\d+\\n`, 'm'));
      for (const { plural, group } of kinds)
        expect(out).toContain(`note     definition ${plural}.${group}: it is not installed\n`);
    }
    expect(out).toMatch(/^ok {7}conflicts: nobody else manages these kinds\nnothing stands in the way\n$/m);
    expect(code).toBe(0);
  });

  test('one that does not answer: 3', async () => {
    const file = await changedConfig(
      'silent',
      (config) => (config.clusters[0]!.cluster.server = 'https://127.0.0.1:9'),
    );
    const { code, out, err } = await call(['check', '--kubeconfig', file]);
    expect(err).toMatch(
      /^slipway: no answer from https:\/\/127\.0\.0\.1:9 \(.*silent.*\): connect .*\n {2}is the cluster running/,
    );
    expect({ code, out }).toEqual({ code: 3, out: '' });
  });

  test('one that does not know the credentials: 4', async () => {
    const file = await changedConfig('unknown', (config) => (config.users[0]!.user = { token: 'nobody' }));
    const { code, err } = await call(['check', '--kubeconfig', file]);
    expect(err).toMatch(/^slipway: https:\/\/\S+ does not accept these credentials\n {2}check the user/);
    expect(code).toBe(4);
  });

  test('an account without rights is told which ones it lacks', async () => {
    const key = { namespace: 'default', name: 'stranger' };
    await cluster.client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: key });
    const asked = { method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts/stranger/token' } as const;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status } = (await cluster.client.request({ ...asked, body })) as { status: { token: string } };
    const { token } = status;
    const file = await changedConfig('stranger', (config) => (config.users[0]!.user = { token }));
    const { code, out } = await call(['check', 'operand', '--kubeconfig', file]);
    expect(out).toMatch(
      /^problem {2}permissions of operand: you may not .*operands\.operand\.run\.cloud\.google\.com.* and \d+ more\n/m,
    );
    expect(out).toContain('         ask for what `slipway rbac operand` prints, or use another --context\n');
    expect(out).toContain(`problem  definition ${definition}: you may not look at it\n`);
    expect(code).toBe(1);
  });

  test('what slipway install put there is of this version, and running check again changes nothing', async () => {
    const installed = await call(['install', 'operand', '--no-wait', '--kubeconfig', server.kubeconfigPath]);
    expect(installed).toMatchObject({ code: 0, err: '' });
    const before = await cluster.client.get(CustomResourceDefinition, { name: definition });
    expect(await findings(`definition ${definition}`)).toEqual([
      {
        verdict: 'ok',
        subject: `definition ${definition}`,
        message: 'it is served, of this version, from slipway install',
      },
    ]);
    expect(await findings('installation')).toMatchObject([{ verdict: 'ok' }]);
    expect(await cluster.client.get(CustomResourceDefinition, { name: definition })).toEqual(before);
  });

  test('a second installation, and somebody else who writes the status, are problems', async () => {
    const own = await cluster.client.get(Deployment, { namespace: 'slipway-system', name: 'slipway-operand' });
    const { labels } = own!.metadata;
    await cluster.client.create(
      newObject(Deployment, {
        metadata: { namespace: 'default', name: 'slipway-operand', labels },
        spec: { selector: own!.spec!.selector, template: own!.spec!.template },
      }),
    );
    await cluster.client.create(newObject(Operand, { metadata: { name: 'shop' }, spec: {} }));
    await cluster.client.patch(
      Operand,
      { name: 'shop' },
      { type: 'merge', body: { status: { observedGeneration: 1 } } },
      { subresource: 'status', fieldManager: 'the-original' },
    );
    expect(await findings('installation')).toMatchObject([
      {
        verdict: 'problem',
        message: expect.stringMatching(/^it is there 2 times: default\/.*slipway-system\//) as string,
      },
    ]);
    expect(await findings('Operand')).toMatchObject([
      { verdict: 'problem', message: 'its status is written by the-original, which is not Operand' },
    ]);
    expect((await check()).out).toMatch(/2 problems to solve first\n$/);
  });

  test('a definition of another owner is the owner’s to change', async () => {
    const annotations = { 'meta.helm.sh/release-name': 'boat', 'meta.helm.sh/release-namespace': 'bay' };
    await cluster.client.patch(
      CustomResourceDefinition,
      { name: definition },
      { type: 'merge', body: { metadata: { annotations } } },
    );
    const [found] = await findings(`definition ${definition}`);
    expect(found!.message).toMatch(/^it is from Helm release boat in namespace bay/);
    expect(found!.next).toMatch(/^go on with helm upgrade boat -n bay/);
  });

  test('so is one that somebody else has written, and one that differs stands in the way', async () => {
    const operators = await findOperators();
    const other = operators.find(({ name }) => name === 'btp-manager')!;
    const { spec, ...rest } = toCustomResourceDefinition(other.kinds[0]!);
    const names = { ...spec.names, categories: ['theirs'] };
    const theirs = { ...rest, spec: { ...spec, names } };
    await cluster.client.apply(theirs, { fieldManager: 'the-original' });
    const argv = ['check', other.name, '-o', 'json', '--kubeconfig', server.kubeconfigPath];
    const { code, out } = await call(argv, { operators });
    expect((JSON.parse(out) as Finding[]).filter(({ verdict }) => verdict === 'problem')).toEqual([
      {
        verdict: 'problem',
        subject: `definition ${rest.metadata.name}`,
        message: 'it is from the-original and differs from the one of this version',
        next: 'slipway install takes it over; the-original should let go of it first',
      },
    ]);
    expect(code).toBe(1);
  });
});
