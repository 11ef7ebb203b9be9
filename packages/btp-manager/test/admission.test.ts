import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Secret, ValidatingWebhookConfiguration } from '@slipway/kube';
import { splitBundle } from '@slipway/runtime';
import { onReference, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { ServiceInstance } from '../src/api.ts';
import { makeCa, makeLeaf } from '../src/certificates/issue-certificates.ts';
import { overlapMs } from '../src/certificates/plan-certificates.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  decode,
  encode,
  moduleCopy,
  reaches,
  requiredSecret,
  seededCertificates,
  serviceInstance,
  testSettings,
} from './kit.ts';
import { ManagerTransport } from './manager-transport.ts';
import { asRealWork } from './real-work.ts';
import { StandIn, type Pair } from './stand-in.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });

/** The module, with a webhook Service behind which an API server finds this machine. */
async function reachableModule(port: number): Promise<Record<string, string>> {
  const { folder, data } = await moduleCopy();
  const file = (name: string) => join(folder, 'module-resources', 'apply', name);
  const webhooks = await readFile(file('webhooks.yml'), 'utf8');
  await writeFile(file('webhooks.yml'), webhooks.replaceAll(/^( +)path: /gm, `$1port: ${port}\n$1path: `));
  const [webhookService, ...others] = (await readFile(file('services.yml'), 'utf8')).split(/^---$/m);
  const spec = 'spec: { type: ExternalName, externalName: localhost }\n';
  await writeFile(file('services.yml'), [webhookService!.replace(/^spec:[^]*/m, spec), ...others].join('---'));
  return data;
}

async function mountedPair({ client }: TestCluster): Promise<Pair | undefined> {
  const secret = await client.get(Secret, system('webhook-server-cert'));
  const pair = { certificate: decode(secret?.data?.['tls.crt']), key: decode(secret?.data?.['tls.key']) };
  return pair.certificate && pair.key.includes('PRIVATE KEY') ? pair : undefined;
}

async function certificateSecrets({ client }: TestCluster): Promise<unknown[]> {
  const names = ['ca-server-cert', 'webhook-server-cert'];
  return await Promise.all(names.map(async (name) => (await client.get(Secret, system(name)))?.data));
}

async function bundle({ client }: TestCluster): Promise<string> {
  const name = 'sap-btp-operator-validating-webhook-configuration';
  const found = await client.get(ValidatingWebhookConfiguration, { name });
  return decode(found?.webhooks?.[0]?.clientConfig.caBundle);
}

test('the API server reaches the webhooks through its caBundle before, during and after every kind of rotation', async () => {
  await using standIn = new StandIn();
  const port = await standIn.start();
  // TLS looks at the clock of the machine: let the certificates be valid there too.
  const settings = testSettings({ ...(await reachableModule(port)), WebhookCertificateExpiration: '87600h' });
  await using cluster = await btpCluster([requiredSecret(), ...seededCertificates()], {
    embedded: { resolveService: () => ({ host: '127.0.0.1', port }) },
  });
  const { client } = cluster;

  // Creating and deleting an instance are three calls: mutate, validate, validate. With failurePolicy Fail none may fail.
  let instances = 0;
  const failures: string[] = [];
  const callWebhooks = async (moment: string) => {
    const name = `instance-${(instances += 1)}`;
    try {
      await client.create(serviceInstance(name, { labels: { admission: 'wanted' } }));
      await client.delete(ServiceInstance, { namespace: 'default', name });
    } catch (error) {
      failures.push(`${moment}: ${(error as Error).message}`);
    }
  };
  let serving = (await mountedPair(cluster))!;
  standIn.mount(serving);
  /** Pods load a mounted Secret some time after it changed: before that they serve the one before, after it the new one. */
  const passMoment = async (moment: string) => {
    await callWebhooks(`${moment}, old certificate`);
    const mounted = await mountedPair(cluster);
    if (!mounted || mounted.certificate === serving.certificate) return;
    // A real server, too, hears of a changed configuration a little later than others; kubelets need a minute.
    if (onReference) await cluster.advance(300);
    standIn.mount((serving = mounted));
    await callWebhooks(`${moment}, new certificate`);
  };

  // Each write of the manager is a moment: the next one waits until the API server has called the webhooks.
  let rotating = false;
  const transport = new ManagerTransport(cluster.transport(), {
    async answered({ verb, resource, name }) {
      if (!rotating || verb === 'get' || verb === 'list' || verb === 'watch') return;
      await asRealWork(passMoment(`${verb} ${resource} ${name}`));
    },
  });
  await cluster.run([btpController({ settings })], { cluster: { transport } });
  await client.create(btpOperator());
  await reaches(cluster, 'ReconcileSucceeded');
  await passMoment('before');
  expect(failures).toEqual([]);
  expect(standIn.calls).toBe(3);

  const [ca, leaf] = [system('ca-server-cert'), system('webhook-server-cert')];
  const spoil = (key: typeof ca, field: string) =>
    client.patch(Secret, key, { type: 'merge', body: { data: { [field]: encode('nonsense') } } });
  const rotations: Record<string, () => Promise<unknown>> = {
    'webhook certificate deleted': () => client.delete(Secret, leaf),
    'CA deleted': () => client.delete(Secret, ca),
    'key of the CA spoilt': () => spoil(ca, 'ca.key'),
    'key of the webhook certificate spoilt': () => spoil(leaf, 'tls.key'),
  };
  rotating = true;
  for (const [what, begin] of Object.entries(rotations)) {
    const [before, calls] = [serving, standIn.calls];
    const untouched = await certificateSecrets(cluster);
    await begin();
    await cluster.eventually(`${what}: another certificate is served`, async () => {
      // A pass that was under way writes what it had read just before over the nonsense.
      if (isDeepStrictEqual(await certificateSecrets(cluster), untouched)) await begin();
      return serving.certificate !== before.certificate;
    });
    await reaches(cluster, 'ReconcileSucceeded');
    // Long enough for the CA before to go, where time costs nothing.
    if (!onReference) await cluster.advance(overlapMs + 300_000);
    await passMoment(`after: ${what}`);
    expect(failures).toEqual([]);
    expect(standIn.calls - calls).toBeGreaterThanOrEqual(9);
  }
  rotating = false;
  expect(splitBundle(await bundle(cluster))).toHaveLength(onReference ? 2 : 1);

  // And that it would have noticed: a certificate of somebody else is refused.
  const others = await makeCa(settings, cluster.clock.now(), 'other');
  const { certificate, privateKey } = await makeLeaf(others, settings, cluster.clock.now());
  standIn.mount({ certificate, key: privateKey });
  await callWebhooks('somebody else');
  expect(failures).toEqual([expect.stringContaining('x509: certificate signed by unknown authority')]);
}, 300_000);
