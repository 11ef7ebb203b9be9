import { writeFile } from 'node:fs/promises';
import { ConfigMap, ValidatingAdmissionPolicy, type KubeObject } from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import { deny, validatingWebhook, type OperatorDescription } from '@slipway/runtime';
import { parseManifests } from '@slipway/manifests';
import { describe, expect, test } from 'vitest';

import { freePort } from '../src/commands/cluster.ts';
import { Call, call, servedCluster, temporaryFolder } from './kit.ts';

const policyName = 'no-forbidden-words';
const policy: KubeObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: policyName },
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    },
    validations: [{ expression: "object.metadata.name != 'forbidden'", message: 'that word is forbidden' }],
  },
};
const binding: KubeObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: policyName },
  spec: { policyName, validationActions: ['Deny'] },
};

/** An operator that keeps ConfigMaps called `webhook` and `forbidden` away: one by a webhook, one by a policy. */
const gatekeeper: OperatorDescription = {
  ...operandOperator,
  name: 'gatekeeper',
  examples: [],
  webhooks: [
    validatingWebhook({
      name: 'names.gatekeeper.example.com',
      kind: ConfigMap,
      operations: ['CREATE'],
      validate: ({ object }) => (object.metadata.name === 'webhook' ? deny('not that name') : undefined),
    }),
  ],
  policies: [policy, binding],
};
const operators = [gatekeeper];
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });

describe('webhooks and policies of an operator', () => {
  test('run serves and registers them', async () => {
    await using cluster = await servedCluster();
    const port = String(await freePort());
    const running = new Call(
      [
        'run',
        '--install-crds',
        '--kubeconfig',
        cluster.kubeconfig,
        '--webhook-url',
        `https://127.0.0.1:${port}`,
        '--webhook-port',
        port,
      ],
      { operators },
    );
    await running.says(/"msg":"ready"/);
    await expect(cluster.client.create(configMap('webhook'))).rejects.toThrow('not that name');
    await expect(cluster.client.create(configMap('forbidden'))).rejects.toThrow('that word is forbidden');
    await cluster.client.create(configMap('fine'));
    expect(await running.stop()).toBe(0);
  });

  test('run does not start without knowing how the API server reaches them', async () => {
    await using cluster = await servedCluster();
    const run = ['run', '--install-crds', '--kubeconfig', cluster.kubeconfig];
    const { code, err } = await call(run, { operators });
    expect(err).toMatch(
      /slipway: gatekeeper: the API server has to reach its webhooks.*\n {2}name a Service with --webhook-service/,
    );
    expect(code).toBe(2);
    const wrong = await call([...run, '--webhook-url', 'http://here'], { operators });
    expect(wrong.err).toContain("--webhook-url must be an https URL, not 'http://here'");
  });

  test('up serves them on its own cluster', async () => {
    await using folder = await temporaryFolder();
    const env = { HOME: folder.path };
    const running = new Call(['up', '--port', '0', '--kubeconfig', 'kubeconfig'], { operators, cwd: folder.path, env });
    await running.says(/export KUBECONFIG=/);
    const file = `${folder.path}/object.yaml`;
    await writeFile(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: webhook, namespace: default }\n');
    const plan = await call(['plan', '-f', file, '--kubeconfig', `${folder.path}/kubeconfig`]);
    expect(plan.out + plan.err).toContain('not that name');
    expect(await running.stop()).toBe(0);
  });

  test('install brings a Service, a port and the rights they need, and the policies', async () => {
    const objects = parseManifests((await call(['install', '--print'], { operators })).out, { source: 'print' });
    const named = (kind: string, name: string) =>
      objects.find((object) => object.kind === kind && object.metadata.name === name);
    expect(named('Service', 'slipway-gatekeeper-webhook')).toMatchObject({
      spec: { ports: [{ port: 443, targetPort: 'webhooks' }] },
    });
    expect(named('Deployment', 'slipway-gatekeeper')).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                args: expect.arrayContaining(['--webhook-service=slipway-gatekeeper-webhook']) as unknown,
                ports: expect.arrayContaining([expect.objectContaining({ name: 'webhooks' })]) as unknown,
              },
            ],
          },
        },
      },
    });
    expect(named('Role', 'slipway-gatekeeper-manager')).toMatchObject({
      rules: expect.arrayContaining([expect.objectContaining({ resources: ['secrets'] })]) as unknown,
    });
    expect(named('NetworkPolicy', 'slipway-gatekeeper')).toMatchObject({
      spec: { ingress: expect.arrayContaining([{ ports: [{ port: 'webhooks', protocol: 'TCP' }] }]) as unknown },
    });
    expect(named(ValidatingAdmissionPolicy.kind, policyName)).toBeDefined();
    const without = (await call(['install', '--print'])).out;
    expect(without).not.toContain('webhook');
  });
});
