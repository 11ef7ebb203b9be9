import { issueCa, issueLeaf, type CertificatePair } from '@slipway/runtime';

import { names } from '../names.ts';
import type { Settings } from '../settings/settings.ts';

type Lives = Pick<
  Settings,
  'caCertificateExpirationMs' | 'webhookCertificateExpirationMs' | 'rsaKeyBits' | 'chartNamespace'
>;

/** Certificates count from a little before they are made: the clocks of a cluster differ. */
export const clockSkewMs = 300_000;

/** Names under which API servers call the webhooks. */
export function webhookNames(namespace: string): string[] {
  return [`${names.webhookService}.${namespace}.svc`, `${names.webhookService}.${namespace}`];
}

/** A CA of its own name each time: two of the same name in one bundle would have to be told apart by their keys. */
export function makeCa(settings: Lives, nowMs: number, id: string): Promise<CertificatePair> {
  return issueCa({
    commonName: `sap-btp-operator-ca-${id}`,
    notBeforeMs: nowMs - clockSkewMs,
    notAfterMs: nowMs + settings.caCertificateExpirationMs,
    key: { type: 'rsa', bits: settings.rsaKeyBits as 2048 | 3072 | 4096 },
    // PKCS#1 is what the original reads: going back to it must not need new certificates.
    keyEncoding: 'traditional',
  });
}

export function makeLeaf(ca: CertificatePair, settings: Lives, nowMs: number): Promise<CertificatePair> {
  return issueLeaf({
    ca,
    commonName: names.webhookService,
    dnsNames: webhookNames(settings.chartNamespace),
    usages: ['server', 'client'],
    notBeforeMs: nowMs - clockSkewMs,
    notAfterMs: nowMs + settings.webhookCertificateExpirationMs,
    key: { type: 'rsa', bits: settings.rsaKeyBits as 2048 | 3072 | 4096 },
    keyEncoding: 'traditional',
  });
}
