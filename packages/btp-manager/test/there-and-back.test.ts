import { createPrivateKey, X509Certificate } from 'node:crypto';
import { Deployment, newObject, PriorityClass, Secret, type KubeObject } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import { ModuleLoader } from '../src/resources/load.ts';
import { prepareResources, withCaBundle } from '../src/resources/prepare.ts';
import { requireCredentials } from '../src/resources/required-secret.ts';
import { clusterScopedKinds } from '../src/resources/scopes.ts';
import * as original from './original-facts.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  decode,
  isGone,
  primary,
  reaches,
  requiredSecret,
  seededCertificates,
  testSettings,
  type BtpTestCluster,
} from './kit.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });

/** One pass of the original, as far as the API server sees it: every object is created, or replaced as a whole by a PUT. */
async function originalPass({ client }: BtpTestCluster): Promise<void> {
  const settings = testSettings();
  const files = await new ModuleLoader().load(settings);
  const objects = [...files.apply, ...files.networkPolicies];
  const prepared = prepareResources({
    files,
    credentials: requireCredentials(requiredSecret(), settings),
    settings,
    images: { serviceOperator: 'operator.example/sap-btp-service-operator:v1' },
    clusterScoped: await clusterScopedKinds(client, objects),
    networkPolicies: true,
  });
  const ca = await client.get(Secret, system('ca-server-cert'));
  for (const object of withCaBundle(prepared, ca!.data!['ca.crt']!)) {
    // The class comes with its own installation.
    if (object.kind === PriorityClass.kind) continue;
    if (object.kind === Deployment.kind) withoutHash(object);
    const kind = await client.resolve(object.apiVersion, object.kind);
    const { namespace, name } = object.metadata;
    const found = await client.get(kind, { ...(namespace ? { namespace } : {}), name: name! });
    if (!found) await client.create(object);
    else
      await client.update({
        ...object,
        metadata: { ...object.metadata, resourceVersion: found.metadata.resourceVersion! },
      });
  }
}

function withoutHash(deployment: KubeObject): void {
  const { template } = deployment['spec'] as { template: { metadata: { annotations: Record<string, string> } } };
  delete template.metadata.annotations['operator.kyma-project.io/btp-operator-config-hash'];
}

const originalClass = newObject(PriorityClass, {
  metadata: {
    name: original.priorityClass.name,
    labels: { 'app.kubernetes.io/component': 'btp-manager.kyma-project.io' },
  },
  value: original.priorityClass.value,
});

async function certificates({ client }: BtpTestCluster) {
  const [ca, leaf] = [
    await client.get(Secret, system('ca-server-cert')),
    await client.get(Secret, system('webhook-server-cert')),
  ];
  return {
    ca: decode(ca?.data?.['ca.crt']),
    caKey: decode(ca?.data?.['ca.key']),
    leaf: decode(leaf?.data?.['tls.crt']),
  };
}

describe('from the original to ours and back', () => {
  test('an installation changes hands twice without new certificates, and goes as a whole at the end', async () => {
    await using cluster = await btpCluster([requiredSecret(), ...seededCertificates()]);
    const { client } = cluster;
    const key = { name: original.priorityClass.name };
    await client.create(originalClass);
    await originalPass(cluster);
    const before = await certificates(cluster);
    // The state and the finalizer the original leaves.
    const created = await client.create(btpOperator({ finalizers: ['operator.kyma-project.io/btp-manager'] }));
    await client.setStatus(created, {
      state: 'Ready',
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'ReconcileSucceeded',
          message: 'Module provisioning succeeded',
          lastTransitionTime: '',
        },
      ],
    });

    // To ours: everything becomes ours, nothing is made anew, no update is under way.
    const first = await cluster.run([btpController()]);
    await cluster.eventually(
      'the installation is ours',
      async () => (await client.get(BtpOperator, primary))?.status?.chartVersion === original.chartVersion,
    );
    await reaches(cluster, 'ReconcileSucceeded');
    expect(await certificates(cluster)).toEqual(before);
    expect(cluster.writes.filter((write) => write.startsWith('delete'))).toEqual([]);
    await first.stop();

    // Back: what the original reads is as it left it, and its way of writing is not refused.
    const { ca, caKey, leaf } = await certificates(cluster);
    expect(new X509Certificate(leaf).verify(new X509Certificate(ca).publicKey)).toBe(true);
    expect(caKey).toMatch(/^-----BEGIN RSA PRIVATE KEY-----/);
    expect(createPrivateKey(caKey).asymmetricKeyType).toBe('rsa');
    await originalPass(cluster);
    const labels = (await client.get(Deployment, system('sap-btp-operator-controller-manager')))?.metadata.labels;
    expect(Object.keys(labels ?? {}).filter((label) => label.includes('slipway'))).toEqual([]);

    // And ours once more; its removal leaves the class that came with the original.
    await cluster.run([btpController()]);
    await reaches(cluster, 'ReconcileSucceeded');
    await client.delete(BtpOperator, primary);
    await isGone(cluster);
    expect(await client.get(Deployment, system('sap-btp-operator-controller-manager'))).toBeUndefined();
    expect((await client.get(PriorityClass, key))?.value).toBe(original.priorityClass.value);
    await client.delete(PriorityClass, key);
  });
});
