import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';

import { startCluster } from '@slipway/apiserver';
import {
  ConfigMap,
  createCache,
  createClient,
  MutatingWebhookConfiguration,
  Secret,
  systemRandom,
  ValidatingWebhookConfiguration,
} from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { inspectCertificate, isIssuedBy, splitBundle } from '../certificates/inspect.ts';
import { memoryLogger } from '../log/logger.ts';
import { startManager } from '../manager/manager.ts';
import { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import { RunningWebhooks, type WebhookOptions } from './running-webhooks.ts';
import { deny, mutatingWebhook, validatingWebhook } from './webhook.ts';

const day = 86_400_000;
const secretKey = { namespace: 'default', name: 'hooks-webhook-cert' };

const options: WebhookOptions = {
  port: 0,
  host: '127.0.0.1',
  address: { service: { namespace: 'default', name: 'hooks' } },
  configuration: 'hooks',
  webhooks: [
    validatingWebhook({ name: 'validate.configmaps.example.com', kind: ConfigMap, validate: () => deny('no') }),
    mutatingWebhook({ name: 'mutate.configmaps.example.com', kind: ConfigMap, mutate: () => undefined }),
  ],
};

/** On the time of the machine: TLS checks certificates against it. */
async function stage() {
  const cluster = await startCluster();
  const { transport } = cluster;
  const client = createClient({ transport, fieldManager: 'test' });
  const log = memoryLogger();
  const start = (webhooks: WebhookOptions = options) =>
    startManager({ name: 'hooks', cluster: { transport }, log, webhooks });
  const field = async (name: string) =>
    Buffer.from((await client.get(Secret, secretKey))?.data?.[name] ?? '', 'base64').toString();
  return { transport, client, log, start, field, [Symbol.asyncDispose]: () => cluster.stop() };
}

/** Asks the way an API server does: by service name, trusting nothing but the bundle. */
function ask(port: number, ca: string, atMs?: number): Promise<{ allowed: boolean; serial: string }> {
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      operation: 'CREATE',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } },
    },
  };
  const target = { host: '127.0.0.1', port, path: '/validate-core-v1-configmap', servername: 'hooks.default.svc' };
  // TLS knows only the time of the machine. At another time the test checks the certificate itself.
  const trust = atMs === undefined ? { ca } : { rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const sent = request({ ...target, ...trust, method: 'POST', agent: false }, (response) => {
      const peer = (response.socket as TLSSocket).getPeerX509Certificate()!;
      if (atMs !== undefined && !isTrusted(peer.toString(), ca, atMs)) reject(new Error('certificate not trusted'));
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const { response: answer } = JSON.parse(text) as { response: { allowed: boolean } };
        resolve({ allowed: answer.allowed, serial: peer.serialNumber });
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(review));
  });
}

function isTrusted(certificate: string, bundle: string, atMs: number): boolean {
  const valid = (pem: string): boolean => {
    const { notBeforeMs, notAfterMs } = inspectCertificate(pem);
    return notBeforeMs <= atMs && atMs <= notAfterMs;
  };
  const { dnsNames } = inspectCertificate(certificate);
  const issued = splitBundle(bundle).some((ca) => valid(ca) && isIssuedBy(certificate, ca));
  return issued && valid(certificate) && dnsNames.includes('hooks.default.svc');
}

describe('webhooks of a manager', () => {
  test('certificates are issued, configurations written, and a client that trusts them is answered', async () => {
    await using scene = await stage();
    await using manager = await scene.start();
    await manager.ready;
    const validating = await scene.client.get(ValidatingWebhookConfiguration, { name: 'hooks' });
    const { caBundle = '', service } = validating!.webhooks![0]!.clientConfig;
    expect(service).toMatchObject({ namespace: 'default', name: 'hooks', path: '/validate-core-v1-configmap' });
    const bundle = Buffer.from(caBundle, 'base64').toString();
    expect((await ask(manager.ports.webhooks!, bundle)).allowed).toBe(false);
    const mutating = await scene.client.get(MutatingWebhookConfiguration, { name: 'hooks' });
    expect(mutating!.webhooks![0]!.clientConfig.caBundle).toBe(caBundle);
    expect(inspectCertificate(await scene.field('tls.crt')).dnsNames).toContain('hooks.default.svc');
  });

  test('replicas share one Secret; who comes second takes what is there', async () => {
    await using scene = await stage();
    const managers = await Promise.all([scene.start(), scene.start(), scene.start()]);
    await Promise.all(managers.map(({ ready }) => ready));
    const bundle = await scene.field('ca.crt');
    const answers = await Promise.all(managers.map(({ ports }) => ask(ports.webhooks!, bundle)));
    expect(new Set(answers.map(({ serial }) => serial)).size).toBe(1);
    for (const manager of managers) await manager.stop();
  });

  test('leaf and CA are renewed without a moment in which a client that follows the bundle is turned away', async () => {
    await using scene = await stage();
    const { client, transport, log } = scene;
    // Only the webhooks live on virtual time; the cluster need not count seventy days in seconds.
    const clock = new VirtualClock();
    const certificates = {
      caLifeMs: 3650 * day,
      caRenewBeforeMs: 3590 * day,
      leafLifeMs: 365 * day,
      leafRenewBeforeMs: 345 * day,
    };
    const metrics = new RuntimeMetrics();
    const cache = createCache({ transport, clock, random: systemRandom });
    const replicas = [1, 2].map(
      () =>
        new RunningWebhooks(
          { ...options, certificates, checkMs: 10_000 * day },
          { cluster: { name: 'main', client, cache }, clock, log, metrics },
        ),
    );
    for (const replica of replicas) await replica.start(new AbortController().signal);
    const serials = new Set<string>();
    const authorities = new Set<string>();
    const trusted = async () => {
      const configuration = await client.get(ValidatingWebhookConfiguration, { name: 'hooks' });
      return Buffer.from(configuration!.webhooks![0]!.clientConfig.caBundle!, 'base64').toString();
    };
    let before = await trusted();
    const pass = async (ms: number) => {
      await clock.advance(ms);
      for (const replica of replicas) {
        await replica.refresh();
        const now = await trusted();
        for (const { port } of replicas) {
          // Whoever read the bundle a moment ago must still be served.
          if (before !== now) await ask(port, before, clock.now());
          serials.add((await ask(port, now, clock.now())).serial);
        }
        for (const pem of splitBundle(now)) authorities.add(inspectCertificate(pem).fingerprint);
        before = now;
      }
    };
    for (let round = 0; round < 12; round += 1) await pass(4.99 * day);
    expect([authorities.size, serials.size]).toEqual([1, 3]);
    // The CA changes on day 60: look closely.
    for (let minute = 0; minute < 5 * 60; minute += 10) await pass(10 * 60_000);
    expect(authorities.size).toBe(2);
    expect(splitBundle(await trusted())).toHaveLength(1);
    expect(serials.size).toBe(4);
    expect(await metrics.registry.metrics()).toMatch(/certwatcher_read_certificate_errors_total 0/);
    for (const replica of replicas) await replica.close();
  });

  test('configurations of others get our CA; what is missing shows in readiness', async () => {
    await using scene = await stage();
    const { client } = scene;
    await client.create({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'theirs' },
      webhooks: [
        {
          name: 'validate.configmaps.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { service: { namespace: 'default', name: 'hooks', path: '/validate-core-v1-configmap' } },
        },
      ],
    });
    const { configuration: _none, ...rest } = options;
    const trust = { validating: ['theirs'], crds: ['websites.example.com'] };
    await using manager = await scene.start({ ...rest, trust });
    await manager.ready;
    const theirs = await client.get(ValidatingWebhookConfiguration, { name: 'theirs' });
    expect(Buffer.from(theirs!.webhooks![0]!.clientConfig.caBundle!, 'base64').toString()).toBe(
      await scene.field('ca.crt'),
    );
    expect(scene.log.entries.find(({ level }) => level === 'warn')?.fields['missing']).toEqual([
      'CustomResourceDefinition websites.example.com does not exist',
    ]);
  });

  test('an API server finds them by their Service', async () => {
    let port = 0;
    await using cluster = await startCluster({ resolveService: () => ({ host: '127.0.0.1', port }) });
    const { transport } = cluster;
    const client = createClient({ transport, fieldManager: 'test' });
    await using manager = await startManager({
      name: 'hooks',
      cluster: { transport },
      log: memoryLogger(),
      webhooks: options,
    });
    await manager.ready;
    port = manager.ports.webhooks!;
    const refused = {
      apiVersion: 'v1' as const,
      kind: 'ConfigMap' as const,
      metadata: { namespace: 'default', name: 'a' },
    };
    await expect(client.create(refused)).rejects.toThrow('denied the request: no');
  });

  test('no private key shows in a log line', async () => {
    await using scene = await stage();
    await using manager = await scene.start();
    await manager.ready;
    expect(JSON.stringify(scene.log.entries)).not.toContain('PRIVATE KEY');
  });

  test('a URL address needs a Secret to be named', async () => {
    await using scene = await stage();
    await expect(scene.start({ ...options, address: { url: 'https://127.0.0.1:9443' } })).rejects.toThrow(
      'webhooks: certificates.secret is needed when the address is a URL',
    );
  });
});
