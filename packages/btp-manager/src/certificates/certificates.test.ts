import { createPrivateKey } from 'node:crypto';
import { parseDuration } from '@slipway/kube';
import { issueLeaf, inspectCertificate, isIssuedBy, splitBundle, type CertificatePair } from '@slipway/runtime';
import { beforeAll, describe, expect, test } from 'vitest';

import { settingsFromFlags, withConfigMap } from '../settings/settings.ts';
import { decideCertificates, renewalTimeMs, type FoundCertificates } from './decide.ts';
import { makeCa, makeLeaf, webhookNames } from './issue-certificates.ts';
import { overlapMs, planCertificates } from './plan-certificates.ts';

const day = 86_400_000;
const nowMs = Date.UTC(2026, 5, 1);
const { settings } = withConfigMap(settingsFromFlags(), { RsaKeyBits: '2048' });
const policy = {
  nowMs,
  expirationBoundaryMs: settings.expirationBoundaryMs,
  dnsNames: webhookNames('kyma-system'),
};

let ca: CertificatePair;
let leaf: CertificatePair;
let otherCa: CertificatePair;
let otherLeaf: CertificatePair;

beforeAll(async () => {
  [ca, otherCa] = await Promise.all([makeCa(settings, nowMs, 'a'), makeCa(settings, nowMs, 'b')]);
  [leaf, otherLeaf] = await Promise.all([makeLeaf(ca, settings, nowMs), makeLeaf(otherCa, settings, nowMs)]);
});

const caSecret = (pair: CertificatePair, previous?: string) => ({
  certificate: pair.certificate,
  key: pair.privateKey,
  ...(previous === undefined ? {} : { previous }),
});
const leafSecret = (pair: CertificatePair) => ({ certificate: pair.certificate, key: pair.privateKey });
const decide = (found: FoundCertificates, at = nowMs) => decideCertificates(found, { ...policy, nowMs: at });

describe('the decision table of certificates', () => {
  test('CA absent: both are made', () => {
    expect(decide({}).make).toBe('both');
    expect(decide({ leaf: leafSecret(leaf) }).make).toBe('both');
  });

  test('ca.crt or ca.key missing, empty or unreadable: both', () => {
    const good = leafSecret(leaf);
    for (const broken of [
      { key: ca.privateKey },
      { certificate: ca.certificate },
      { certificate: '', key: ca.privateKey },
      { certificate: 'no certificate', key: ca.privateKey },
      { certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', key: ca.privateKey },
    ])
      expect(decide({ ca: broken, leaf: good }).make).toBe('both');
  });

  test('CA near its end: both', () => {
    const { notAfterMs } = inspectCertificate(ca.certificate);
    const found = { ca: caSecret(ca), leaf: leafSecret(leaf) };
    expect(decide(found, notAfterMs - 8 * day).make).toBe('leaf');
    expect(decide(found, notAfterMs - 6 * day).make).toBe('both');
  });

  test('CA good, webhook certificate absent, empty, unreadable or near its end: leaf', () => {
    const good = caSecret(ca);
    expect(decide({ ca: good }).make).toBe('leaf');
    for (const broken of [{}, { certificate: leaf.certificate }, { certificate: 'x', key: leaf.privateKey }])
      expect(decide({ ca: good, leaf: broken }).make).toBe('leaf');
    const { notAfterMs } = inspectCertificate(leaf.certificate);
    expect(decide({ ca: good, leaf: leafSecret(leaf) }, notAfterMs - 8 * day).make).toBe('nothing');
    expect(decide({ ca: good, leaf: leafSecret(leaf) }, notAfterMs - 6 * day).make).toBe('leaf');
  });

  test('webhook certificate of another CA, or itself a CA, or not for servers: both', async () => {
    expect(decide({ ca: caSecret(ca), leaf: leafSecret(otherLeaf) }).make).toBe('both');
    expect(decide({ ca: caSecret(ca), leaf: leafSecret(ca) }).make).toBe('both');
    const clientOnly = await issueLeaf({
      ca,
      commonName: 'x',
      dnsNames: policy.dnsNames,
      usages: ['client'],
      notBeforeMs: nowMs,
      notAfterMs: nowMs + 365 * day,
    });
    expect(decide({ ca: caSecret(ca), leaf: leafSecret(clientOnly) })).toEqual({
      make: 'both',
      why: 'tls.crt may not be used by servers',
    });
  });

  test('both good: nothing; a leaf of the user that our CA signed is kept', async () => {
    expect(decide({ ca: caSecret(ca), leaf: leafSecret(leaf) }).make).toBe('nothing');
    const own = await issueLeaf({
      ca,
      commonName: 'mine',
      dnsNames: policy.dnsNames,
      notBeforeMs: nowMs,
      notAfterMs: nowMs + 365 * day,
    });
    expect(decide({ ca: caSecret(ca), leaf: leafSecret(own) }).make).toBe('nothing');
  });

  test('a user-supplied CA is not adopted', () => {
    expect(decide({ ca: caSecret(otherCa), leaf: leafSecret(leaf) }).make).toBe('both');
  });

  test('a corrupt ca.key heals', () => {
    const leafGood = leafSecret(leaf);
    for (const key of ['garbage', otherCa.privateKey])
      expect(decide({ ca: { certificate: ca.certificate, key }, leaf: leafGood })).toEqual({
        make: 'both',
        why: 'ca.key does not belong to ca.crt',
      });
  });

  test('a leaf of the CA before is renewed, not the CA again', () => {
    expect(decide({ ca: caSecret(otherCa, ca.certificate), leaf: leafSecret(leaf) }).make).toBe('leaf');
  });

  const lived = async (life: string) => {
    const short = withConfigMap(settings, { WebhookCertificateExpiration: life }).settings;
    return { ca: caSecret(ca), leaf: leafSecret(await makeLeaf(ca, short, nowMs)) };
  };

  test('a certificate of ten days is replaced a week before its end, as ExpirationBoundary says', async () => {
    const found = await lived('240h');
    expect(decide(found, nowMs + 2.9 * day).make).toBe('nothing');
    expect(decide(found, nowMs + 3.1 * day).make).toBe('leaf');
    expect(renewalTimeMs(found.leaf.certificate, settings.expirationBoundaryMs)).toBe(nowMs + 3 * day);
  });

  test.each(['24h', '168h', '169h', '2m', '30s'])(
    'a life of %s, which the boundary would use up, is used for two thirds: no new certificate on every pass',
    async (life) => {
      const found = await lived(life);
      const ms = parseDuration(life);
      expect(decide(found).make).toBe('nothing');
      expect(decide(found, nowMs + 0.6 * ms).make).toBe('nothing');
      expect(decide(found, nowMs + 0.7 * ms).make).toBe('leaf');
    },
  );
});

describe('planned certificates', () => {
  test('have the form the original reads', () => {
    for (const pair of [ca, leaf]) {
      expect(pair.privateKey).toMatch(/^-----BEGIN RSA PRIVATE KEY-----/);
      expect(createPrivateKey(pair.privateKey).asymmetricKeyDetails?.modulusLength).toBe(2048);
    }
    expect(inspectCertificate(leaf.certificate).dnsNames).toEqual([
      'sap-btp-operator-webhook-service.kyma-system.svc',
      'sap-btp-operator-webhook-service.kyma-system',
    ]);
  });

  test('trust what pods still serve while a CA changes, and for an hour after', async () => {
    const found = { ca: { certificate: ca.certificate, key: 'lost' }, leaf: leafSecret(leaf) };
    const plan = await planCertificates({ found, trusted: [], settings, nowMs, id: 'c' });
    expect(plan.made).toBe('both');
    expect(splitBundle(plan.bundle)).toHaveLength(2);
    expect(splitBundle(plan.bundle).some((pem) => isIssuedBy(leaf.certificate, pem))).toBe(true);
    expect(isIssuedBy(plan.leaf.certificate, plan.ca.certificate)).toBe(true);

    const after = { ca: caSecret(plan.ca, plan.previous), leaf: leafSecret(plan.leaf) };
    const soon = await planCertificates({ found: after, trusted: [], settings, nowMs: nowMs + overlapMs - 1, id: 'd' });
    expect(soon).toMatchObject({ made: 'nothing', bundle: plan.bundle, dropPreviousAtMs: nowMs + overlapMs });
    const later = await planCertificates({ found: after, trusted: [], settings, nowMs: nowMs + overlapMs, id: 'd' });
    expect(later).toMatchObject({ made: 'nothing', previous: '', bundle: plan.ca.certificate });
  });

  test('find the old CA in the webhook configuration when its Secret is gone', async () => {
    const plan = await planCertificates({
      found: { leaf: leafSecret(leaf) },
      trusted: [otherCa.certificate, ca.certificate],
      settings,
      nowMs,
      id: 'c',
    });
    expect(splitBundle(plan.bundle)).toEqual([plan.ca.certificate, ca.certificate]);
  });

  test.each([
    ['gone', {}],
    ['spoilt', { leaf: { certificate: 'no certificate', key: 'no key' } }],
  ])('trust all that was trusted when the webhook certificate is %s too: pods serve it on', async (_what, found) => {
    const plan = await planCertificates({ found, trusted: [ca.certificate], settings, nowMs, id: 'c' });
    expect(splitBundle(plan.bundle)).toEqual([plan.ca.certificate, ca.certificate]);
    expect(plan.dropPreviousAtMs).toBe(nowMs + overlapMs);
  });

  test('a new leaf of the same CA needs no second CA', async () => {
    const plan = await planCertificates({ found: { ca: caSecret(ca) }, trusted: [], settings, nowMs, id: 'c' });
    expect(plan).toMatchObject({ made: 'leaf', bundle: ca.certificate, previous: '' });
  });
});
