import { ConfigMap, newObject, Secret, ValidatingWebhookConfiguration } from '@slipway/kube';
import { inspectCertificate, isIssuedBy, splitBundle } from '@slipway/runtime';
import { onReference, type TestCluster, skipped } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import { overlapMs } from '../src/certificates/plan-certificates.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  decode,
  encode,
  impatient,
  primary,
  reaches,
  readyCluster,
  requiredSecret,
  testSettings,
  watchReasons,
} from './kit.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });

const readPair = async ({ client }: TestCluster) => {
  const ca = await client.get(Secret, system('ca-server-cert'));
  const leaf = await client.get(Secret, system('webhook-server-cert'));
  const webhooks = await client.get(ValidatingWebhookConfiguration, {
    name: 'sap-btp-operator-validating-webhook-configuration',
  });
  return {
    ca: decode(ca?.data?.['ca.crt']),
    caKey: decode(ca?.data?.['ca.key']),
    previous: ca?.data?.['ca-previous.crt'],
    leaf: decode(leaf?.data?.['tls.crt']),
    bundle: decode(webhooks?.webhooks?.[0]?.clientConfig.caBundle),
  };
};

const embeddedOnly = skipped(onReference, 'on the real API server: the lives of certificates, which need virtual time');

describe('certificates on a cluster', () => {
  test('are made when there are none, labelled, and trusted', async () => {
    await using cluster = await btpCluster([requiredSecret()]);
    const { manager } = await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    const { ca, caKey, leaf, bundle } = await readPair(cluster);
    expect(bundle).toBe(ca);
    expect(caKey).toMatch(/^-----BEGIN RSA PRIVATE KEY-----/);
    expect(isIssuedBy(leaf, ca)).toBe(true);
    const secret = await cluster.client.get(Secret, system('ca-server-cert'));
    expect(secret?.type).toBe('Opaque');
    expect(secret?.metadata.labels?.['app.kubernetes.io/managed-by']).toBe('btp-manager');
    expect(secret?.metadata.labels).not.toHaveProperty('chart-version');
    expect(await manager.registry.metrics()).toMatch(/^btpmanager_certs_regenerations_total 1$/m);
  });

  test.skipIf(embeddedOnly)(
    'are replaced before they end, and the CA before stays trusted for an hour',
    async () => {
      const settings = testSettings({ WebhookCertificateExpiration: '4h', ExpirationBoundary: '-1h' });
      await using cluster = await readyCluster({ settings }, [requiredSecret()]);
      const first = await readPair(cluster);
      const { notAfterMs } = inspectCertificate(first.leaf);
      await cluster.advance(notAfterMs - cluster.clock.now() - 61 * 60_000);
      expect((await readPair(cluster)).leaf).toBe(first.leaf);
      await cluster.advance(2 * 60_000);
      const second = await readPair(cluster);
      expect(second.ca).toBe(first.ca);
      expect(second.leaf).not.toBe(first.leaf);
      expect(inspectCertificate(second.leaf).notAfterMs).toBeGreaterThan(notAfterMs);
      // A new CA now: its Secret is broken by hand.
      await cluster.client.patch(Secret, system('ca-server-cert'), {
        type: 'merge',
        body: { data: { 'ca.key': encode('nonsense') } },
      });
      const third = await cluster.eventually('there is a new CA', async () => {
        const now = await readPair(cluster);
        return now.ca !== first.ca && isIssuedBy(now.leaf, now.ca) ? now : undefined;
      });
      expect(splitBundle(third.bundle)).toEqual([third.ca, first.ca]);
      await cluster.advance(overlapMs - 120_000);
      expect(splitBundle((await readPair(cluster)).bundle)).toHaveLength(2);
      await cluster.advance(180_000);
      const fourth = await readPair(cluster);
      expect(fourth).toMatchObject({ ca: third.ca, bundle: third.ca, leaf: third.leaf });
      expect(fourth.previous).toBeUndefined();
    },
    60_000,
  );

  test.skipIf(embeddedOnly)('a CA deleted while a pass is under way is not put back', async () => {
    await using cluster = await readyCluster();
    const before = await readPair(cluster);
    let deleted = false;
    cluster.embedded!.intercept(async ({ verb, resource }, phase) => {
      if (deleted || phase !== 'after' || verb !== 'get' || resource?.name !== 'ca-server-cert') return;
      deleted = true;
      await cluster.client.delete(Secret, system('ca-server-cert'));
    });
    const labels = { wakes: 'the-manager' };
    await cluster.client.patch(Secret, system('sap-btp-manager'), { type: 'merge', body: { metadata: { labels } } });
    await cluster.eventually('there is a new CA', async () => {
      const now = await readPair(cluster);
      return now.ca !== '' && now.ca !== before.ca && isIssuedBy(now.leaf, now.ca);
    });
    await reaches(cluster, 'ReconcileSucceeded');
  });

  test.each(['secrets', 'validatingwebhookconfigurations'])(
    'a hiccup of the server at %s while they are replaced is tried again soon, and does not show',
    async (resource) => {
      await using cluster = await readyCluster();
      const seen = cluster.embedded ? watchReasons(cluster) : undefined;
      const busy = cluster.refuse({ verb: 'patch', resource, times: 1 }, { status: 503, reason: 'ServiceUnavailable' });
      await cluster.client.delete(Secret, system('ca-server-cert'));
      await cluster.eventually(
        'the new certificate is of the new CA',
        async () => {
          const { ca, leaf } = await readPair(cluster);
          return ca !== '' && isIssuedBy(leaf, ca);
        },
        { withinMs: 30_000 },
      );
      expect(busy.hits).toBe(1);
      expect(seen ?? []).toEqual([]);
    },
  );

  test('a certificate Secret without our label counts as missing', async () => {
    await using cluster = await readyCluster();
    const before = await readPair(cluster);
    await cluster.client.patch(Secret, system('webhook-server-cert'), {
      type: 'merge',
      body: { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } },
    });
    await cluster.eventually('the certificate is a new one', async () => {
      const now = await readPair(cluster);
      return now.leaf !== before.leaf && now.ca === before.ca;
    });
  });

  test('a certificate Secret of another type is replaced by one of ours, with the same certificate', async () => {
    await using cluster = await readyCluster();
    const before = await readPair(cluster);
    for (const name of ['webhook-server-cert', 'ca-server-cert']) {
      const { data } = (await cluster.client.get(Secret, system(name)))!;
      const labels = { 'app.kubernetes.io/managed-by': 'btp-manager' };
      // Its type cannot be changed: whoever wants another one deletes the Secret and creates it anew.
      await cluster.manager.stop();
      await cluster.client.delete(Secret, system(name));
      await cluster.client.create(
        newObject(Secret, { metadata: { ...system(name), labels }, type: 'example.com/of-somebody', data: data! }),
      );
    }
    await cluster.run([btpController()]);
    for (const name of ['webhook-server-cert', 'ca-server-cert'])
      await cluster.eventually(
        `${name} has its type back`,
        async () => (await cluster.client.get(Secret, system(name)))?.type === 'Opaque',
      );
    await reaches(cluster, 'ReconcileSucceeded');
    expect(await readPair(cluster)).toEqual(before);
  });

  test('deleting the CA makes a new one, and trusts the old one for an hour unless an annotation says otherwise', async () => {
    await using cluster = await readyCluster();
    const rotated = async (old: string) => {
      await cluster.client.delete(Secret, system('ca-server-cert'));
      return await cluster.eventually('there is a new CA, and it is trusted', async () => {
        const now = await readPair(cluster);
        return now.ca !== '' && now.ca !== old && now.bundle.startsWith(now.ca) && isIssuedBy(now.leaf, now.ca)
          ? now
          : undefined;
      });
    };
    const first = await readPair(cluster);
    const second = await rotated(first.ca);
    expect(splitBundle(second.bundle)).toEqual([second.ca, first.ca]);
    // Asked for while two are trusted: the old one goes at once.
    const annotations = { 'operator.kyma-project.io/distrust-previous-ca': 'true' };
    await cluster.client.patch(BtpOperator, primary, { type: 'merge', body: { metadata: { annotations } } });
    await cluster.eventually('only the new CA is trusted', async () => (await readPair(cluster)).bundle === second.ca, {
      withinMs: 10_000,
    });
    // And beforehand: it is never trusted beside the new one.
    const bundles: string[] = [];
    cluster.embedded?.observe(({ object }) => {
      const { kind, webhooks } = object as unknown as {
        kind: string;
        webhooks?: { clientConfig: { caBundle?: string } }[];
      };
      if (kind === 'ValidatingWebhookConfiguration') bundles.push(decode(webhooks![0]!.clientConfig.caBundle));
    });
    const third = await rotated(second.ca);
    expect(third.bundle).toBe(third.ca);
    for (const bundle of bundles) expect(splitBundle(bundle)).toHaveLength(1);
  });

  test('a short life from the settings is used for two thirds, without a new certificate at every look', async () => {
    const lifeMs = onReference ? 30_000 : 2 * 3_600_000;
    const labels = { 'app.kubernetes.io/managed-by': 'kcp-kyma-environment-broker' };
    await using cluster = await btpCluster([
      requiredSecret(),
      newObject(ConfigMap, {
        metadata: { ...system('sap-btp-manager'), labels },
        data: { WebhookCertificateExpiration: `${lifeMs}ms`, ...impatient },
      }),
    ]);
    const { manager } = await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    const first = await readPair(cluster);
    const second = await cluster.eventually('the certificate is a new one', async () => {
      const now = await readPair(cluster);
      return now.leaf !== first.leaf ? now : undefined;
    });
    expect(await manager.registry.metrics()).toMatch(/^btpmanager_certs_regenerations_total 2$/m);
    const [from, to] = [inspectCertificate(first.leaf), inspectCertificate(second.leaf)].map(
      (each) => each.notBeforeMs,
    );
    // Certificates tell whole seconds.
    expect(to! - from!).toBeGreaterThanOrEqual((2 / 3) * lifeMs - 1000);
    expect(second.ca).toBe(first.ca);
  });
});
