import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';

import { startCluster } from '@slipway/apiserver';
import {
  ConfigMap,
  createClient,
  MutatingWebhookConfiguration,
  Secret,
  ValidatingWebhookConfiguration,
} from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { inspectCertificate, isIssuedBy, splitBundle } from '../certificates/inspect.ts';
import { memoryLogger } from '../log/logger.ts';
import { startManager } from '../manager/manager.ts';
import type { WebhookOptions } from './running-webhooks.ts';
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

async function stage() {
  // TLS checks certificates against the real time, so virtual time begins now.
  const clock = new VirtualClock(new Date().getTime());
  const cluster = await startCluster({ clock });
  const transport = cluster.transport;
  const client = createClient({ transport, fieldManager: 'test', clock });
  const log = memoryLogger();
  const start = (webhooks: WebhookOptions = options) =>
    startManager({ name: 'hooks', cluster: { transport }, clock, log, webhooks });
  const stored = async () => (await client.get(Secret, secretKey))?.data ?? {};
  const field = async (name: string) => Buffer.from((await stored())[name] ?? '', 'base64').toString();
  return { clock, client, log, start, stored, field, [Symbol.asyncDispose]: () => cluster.stop() };
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
    await scene.clock.runUntil(() => manager.ports.webhooks !== undefined && manager.ports.webhooks > 0);
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
    await scene.clock.runUntil(() => managers.every(({ ports }) => ports.webhooks! > 0));
    const bundle = await scene.field('ca.crt');
    const answers = await Promise.all(managers.map(({ ports }) => ask(ports.webhooks!, bundle)));
    expect(new Set(answers.map(({ serial }) => serial)).size).toBe(1);
    for (const manager of managers) await manager.stop();
  });

  test('leaf and CA are renewed without a moment in which a client that follows the bundle is turned away', async () => {
    await using scene = await stage();
    const { clock, client } = scene;
    const certificates = {
      caLifeMs: 3650 * day,
      caRenewBeforeMs: 3590 * day,
      leafLifeMs: 365 * day,
      leafRenewBeforeMs: 345 * day,
    };
    const managers = await Promise.all([1, 2].map(() => scene.start({ ...options, certificates })));
    await clock.runUntil(() => managers.every(({ ports }) => ports.webhooks! > 0));
    const serials = new Set<string>();
    const authorities = new Set<string>();
    const trusted = async () => {
      const configuration = await client.get(ValidatingWebhookConfiguration, { name: 'hooks' });
      return Buffer.from(configuration!.webhooks![0]!.clientConfig.caBundle!, 'base64').toString();
    };
    let before = await trusted();
    const check = async () => {
      const now = await trusted();
      for (const { ports } of managers) {
        // Whoever read the bundle a moment ago must still be served.
        await ask(ports.webhooks!, before, clock.now());
        serials.add((await ask(ports.webhooks!, now, clock.now())).serial);
      }
      for (const pem of splitBundle(now)) authorities.add(inspectCertificate(pem).fingerprint);
      before = now;
    };
    // 70 days: three leaves and one change of the CA. Looks closely at the two hours in which the CA changes.
    for (let hour = 0; hour < 70 * 24; hour += 24) {
      const day60 = hour === 60 * 24;
      for (let minute = 0; minute < (day60 ? 120 : 0); minute += 1) {
        await clock.advance(60_000);
        if (minute % 5 === 0) await check();
      }
      await clock.advance(day);
      await check();
    }
    expect(authorities.size).toBe(2);
    expect(splitBundle(await trusted())).toHaveLength(1);
    expect(serials.size).toBeGreaterThanOrEqual(4);
    expect(await managers[0]!.registry.metrics()).toMatch(/certwatcher_read_certificate_errors_total 0/);
    for (const manager of managers) await manager.stop();
  }, 60_000);

  test('configurations of others get our CA; what is missing shows in readiness', async () => {
    await using scene = await stage();
    const { clock, client } = scene;
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
    await clock.runUntil(() => manager.ports.webhooks! > 0);
    const theirs = await client.get(ValidatingWebhookConfiguration, { name: 'theirs' });
    expect(Buffer.from(theirs!.webhooks![0]!.clientConfig.caBundle!, 'base64').toString()).toBe(
      await scene.field('ca.crt'),
    );
    expect(scene.log.entries.find(({ level }) => level === 'warn')?.fields['missing']).toEqual([
      'CustomResourceDefinition websites.example.com does not exist',
    ]);
  });

  test('no private key shows in a log line', async () => {
    await using scene = await stage();
    await using manager = await scene.start();
    await scene.clock.runUntil(() => manager.ports.webhooks! > 0);
    expect(JSON.stringify(scene.log.entries)).not.toContain('PRIVATE KEY');
  });

  test('a URL address needs a Secret to be named', async () => {
    await using scene = await stage();
    await expect(scene.start({ ...options, address: { url: 'https://127.0.0.1:9443' } })).rejects.toThrow(
      'webhooks: certificates.secret is needed when the address is a URL',
    );
  });
});
