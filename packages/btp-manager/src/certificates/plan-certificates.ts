import { inspectCertificate, isIssuedBy, splitBundle, type CertificatePair } from '@slipway/runtime';

import type { Settings } from '../settings/settings.ts';
import { decideCertificates, type FoundCertificates } from './decide.ts';
import { clockSkewMs, makeCa, makeLeaf, webhookNames } from './issue-certificates.ts';

/** How long a replaced CA stays trusted: by then every pod has loaded the new certificate. */
export const overlapMs = 3_600_000;

/** The certificates as they should be. */
export interface CertificatePlan {
  readonly ca: CertificatePair;
  readonly leaf: CertificatePair;
  /** CAs before, which pods may still serve certificates of. PEM, may be empty. */
  readonly previous: string;
  /** What API servers have to trust: the CA and the ones before. PEM. */
  readonly bundle: string;
  readonly made: 'nothing' | 'leaf' | 'both';
  readonly why: string;
  /** When the CAs before can go; absent when there are none. */
  readonly dropPreviousAtMs?: number;
}

export interface PlanInput {
  readonly found: FoundCertificates;
  /** What the webhook configurations trust now, PEM. Matters when the CA Secret is lost. */
  readonly trusted: readonly string[];
  readonly settings: Settings;
  readonly nowMs: number;
  /** For the name of a new CA. */
  readonly id: string;
  /** Trust the CA in force and no other, whatever pods still serve. Default false. */
  readonly distrustPrevious?: boolean;
}

/** Decides and makes what is missing. */
export async function planCertificates(input: PlanInput): Promise<CertificatePlan> {
  const { found, settings, nowMs } = input;
  const decision = decideCertificates(found, {
    nowMs,
    expirationBoundaryMs: settings.expirationBoundaryMs,
    dnsNames: webhookNames(settings.chartNamespace),
  });
  const ca =
    decision.make === 'both'
      ? await makeCa(settings, nowMs, input.id)
      : { certificate: found.ca!.certificate!, privateKey: found.ca!.key! };
  const leaf =
    decision.make === 'nothing'
      ? { certificate: found.leaf!.certificate!, privateKey: found.leaf!.key! }
      : await makeLeaf(ca, settings, nowMs);
  const { previous, dropAtMs } = previousCas(input, ca, leaf, decision.make);
  return {
    ca,
    leaf,
    previous,
    bundle: ca.certificate + previous,
    made: decision.make,
    why: decision.why,
    ...(dropAtMs === undefined ? {} : { dropPreviousAtMs: dropAtMs }),
  };
}

function previousCas(
  { found, trusted, nowMs, distrustPrevious }: PlanInput,
  ca: CertificatePair,
  leaf: CertificatePair,
  made: CertificatePlan['made'],
): { previous: string; dropAtMs?: number } {
  if (distrustPrevious) return { previous: '' };
  const known = splitBundle(found.ca?.previous ?? '');
  const served = readable(found.leaf?.certificate);
  // When the CA changes, what signed the certificate that pods serve at this moment has to stay trusted. With its Secret gone
  // or spoilt nobody knows which one it is, and pods go on with what they have loaded.
  const candidates =
    made === 'both'
      ? [...splitBundle(found.ca?.certificate ?? ''), ...known, ...trusted].filter(
          (pem) => served === undefined || signed(pem, served),
        )
      : known;
  const living = [...new Set(candidates)].filter((pem) => pem !== ca.certificate && isAlive(pem, nowMs));
  if (living.length === 0) return { previous: '' };
  const dropAtMs = inspectCertificate(leaf.certificate).notBeforeMs + clockSkewMs + overlapMs;
  return nowMs >= dropAtMs ? { previous: '' } : { previous: living.join(''), dropAtMs };
}

function readable(pem = ''): string | undefined {
  try {
    inspectCertificate(pem);
    return pem;
  } catch {
    return undefined;
  }
}

function signed(ca: string, leaf: string): boolean {
  try {
    return isIssuedBy(leaf, ca);
  } catch {
    return false;
  }
}

function isAlive(pem: string, nowMs: number): boolean {
  try {
    const { isCa, notAfterMs } = inspectCertificate(pem);
    return isCa && notAfterMs > nowMs;
  } catch {
    return false;
  }
}
