import { createServer, type Server } from 'node:https';
import { connect } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { ConfigMap, newObject, Secret, ValidatingWebhookConfiguration } from '@slipway/kube';
import { inspectCertificate, isIssuedBy, splitBundle } from '@slipway/runtime';
import { onReference, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { makeCa } from '../src/certificates/issue-certificates.ts';
import { overlapMs } from '../src/certificates/plan-certificates.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  decode,
  encode,
  reaches,
  readyCluster,
  requiredSecret,
  seededCertificates,
  testSettings,
} from './kit.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/** A stand-in for the service operator: serves what is mounted. */
class StandIn {
  readonly #server: Server;
  mounted: Pair | undefined;

  constructor() {
    this.#server = createServer((_request, response) => response.end('ok'));
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  mount(pair: Pair): void {
    this.mounted = pair;
    this.#server.setSecureContext({ cert: pair.certificate, key: pair.key });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Calls the webhook as an API server would: by its service name, trusting the bundle and nothing else. */
function call(port: number, caBundle: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const servername = 'sap-btp-operator-webhook-service.kyma-system.svc';
    const socket = connect({ port, host: '127.0.0.1', servername, ca: caBundle }, () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}

/** Each moment at which what is trusted or what is mounted changes, in order. */
interface Moment {
  readonly bundle: string;
  readonly leaf: Pair;
  /** What pods may still serve: they load a mounted Secret some time after it changed. */
  readonly before: Pair;
}

function watchMoments(cluster: TestCluster): Moment[] {
  const moments: Moment[] = [];
  let bundle = '';
  let leaf: Pair | undefined;
  let before: Pair | undefined;
  let changedAt = 0;
  cluster.embedded!.observe(({ type, object }) => {
    const { kind, metadata, data, webhooks } = object as unknown as {
      kind: string;
      metadata: { name: string };
      data?: Record<string, string>;
      webhooks?: { clientConfig: { caBundle?: string } }[];
    };
    if (type === 'DELETED') return;
    if (kind === 'Secret' && metadata.name === 'webhook-server-cert') {
      const next = { certificate: decode(data?.['tls.crt']), key: decode(data?.['tls.key']) };
      if (next.certificate !== leaf?.certificate) {
        [before, leaf] = [leaf, next];
        changedAt = cluster.clock.now();
      }
    } else if (kind === 'ValidatingWebhookConfiguration') bundle = decode(webhooks?.[0]?.clientConfig.caBundle);
    else return;
    // Certificates know whole seconds only.
    const late = cluster.clock.now() - changedAt < overlapMs - 1000;
    if (bundle && leaf) moments.push({ bundle, leaf, before: (late && before) || leaf });
  });
  return moments;
}

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

  test.skipIf(onReference)(
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

  test.skipIf(onReference)('settings of lives are honoured, without a loop when they are short', async () => {
    const labels = { 'app.kubernetes.io/managed-by': 'kcp-kyma-environment-broker' };
    await using cluster = await btpCluster([
      requiredSecret(),
      newObject(ConfigMap, {
        metadata: { ...system('sap-btp-manager'), labels },
        data: { WebhookCertificateExpiration: '2h' },
      }),
    ]);
    const { manager } = await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    await cluster.advance(70 * 60_000);
    expect(await manager.registry.metrics()).toMatch(/^btpmanager_certs_regenerations_total 1$/m);
    await cluster.advance(20 * 60_000);
    expect(await manager.registry.metrics()).toMatch(/^btpmanager_certs_regenerations_total 2$/m);
  });

  test.skipIf(onReference)(
    'a TLS client with the caBundle reaches the webhook before, during and after every kind of rotation',
    async () => {
      // TLS looks at the clock of the machine: let the certificates be valid there too.
      const settings = testSettings({ WebhookCertificateExpiration: '87600h' });
      await using cluster = await btpCluster([requiredSecret(), ...seededCertificates()]);
      const moments = watchMoments(cluster);
      await cluster.run([btpController({ settings })]);
      await cluster.client.create(btpOperator());
      await reaches(cluster, 'ReconcileSucceeded');
      const { client } = cluster;
      const damage: (() => Promise<unknown>)[] = [
        () => client.delete(Secret, system('webhook-server-cert')),
        () => client.delete(Secret, system('ca-server-cert')),
        () =>
          client.patch(Secret, system('ca-server-cert'), {
            type: 'merge',
            body: { data: { 'ca.key': encode('nonsense') } },
          }),
        () =>
          client.patch(Secret, system('webhook-server-cert'), {
            type: 'merge',
            body: { data: { 'tls.key': encode('nonsense') } },
          }),
      ];
      for (const damaging of damage) {
        const before = await readPair(cluster);
        await damaging();
        await cluster.eventually('a new certificate is there', async () => {
          const now = await readPair(cluster);
          return now.leaf !== '' && now.leaf !== before.leaf;
        });
        await reaches(cluster, 'ReconcileSucceeded');
        // Long enough for pods to load it and for the CA before to go.
        await cluster.advance(overlapMs + 300_000);
      }
      await using standIn = new StandIn();
      const port = await standIn.start();
      let calls = 0;
      for (const { bundle, leaf, before } of moments) {
        for (const pair of new Set([leaf, before])) {
          standIn.mount(pair);
          await call(port, bundle);
          calls += 1;
        }
      }
      expect(calls).toBeGreaterThan(12);
      await expect(call(port, await otherBundle())).rejects.toThrow('unable to verify');
    },
    60_000,
  );
});

/** A bundle nobody here signed with, to see that the client does refuse. */
async function otherBundle(): Promise<string> {
  return (await makeCa(testSettings(), Date.UTC(2026, 0, 1), 'other')).certificate;
}
