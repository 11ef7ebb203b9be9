import { X509Certificate } from 'node:crypto';
import { inspectCertificate, isIssuedBy, isKeyOf, splitBundle } from '@slipway/runtime';

import { clockSkewMs } from './issue-certificates.ts';

/** The two certificate Secrets as they were found, PEM. A Secret that is not there (or not marked as ours) is `undefined`. */
export interface FoundCertificates {
  readonly ca?: { readonly certificate?: string; readonly key?: string; readonly previous?: string };
  readonly leaf?: { readonly certificate?: string; readonly key?: string };
}

export interface CertificatePolicy {
  readonly nowMs: number;
  /** Negative: how long before its end a certificate is replaced, in milliseconds. */
  readonly expirationBoundaryMs: number;
  /** Names the webhook certificate must bear. */
  readonly dnsNames: readonly string[];
}

/** What to make anew. A new CA always comes with a new leaf. */
export interface CertificateDecision {
  readonly make: 'nothing' | 'leaf' | 'both';
  /** Why, for the log. Names files and times, never their content. */
  readonly why: string;
}

const serverAuth = '1.3.6.1.5.5.7.3.1';
const anyUsage = '2.5.29.37.0';

/** Which certificates have to be made anew. */
export function decideCertificates(found: FoundCertificates, policy: CertificatePolicy): CertificateDecision {
  const both = (why: string): CertificateDecision => ({ make: 'both', why });
  const leafOnly = (why: string): CertificateDecision => ({ make: 'leaf', why });
  const { ca, leaf } = found;
  if (!ca) return both('there is no CA');
  if (!ca.certificate || !ca.key) return both('ca.crt or ca.key is missing or empty');
  const caProblem = certificateProblem('ca.crt', ca.certificate, policy);
  if (caProblem) return both(caProblem);
  if (!inspectCertificate(ca.certificate).isCa) return both('ca.crt is not a CA');
  // With a broken key the next webhook certificate could not be signed; better now than when the old one has ended.
  if (!isKeyOf(ca.key, ca.certificate)) return both('ca.key does not belong to ca.crt');

  if (!leaf) return leafOnly('there is no webhook certificate');
  if (!leaf.certificate || !leaf.key) return leafOnly('tls.crt or tls.key is missing or empty');
  const leafProblem = certificateProblem('tls.crt', leaf.certificate, policy);
  if (leafProblem) return leafOnly(leafProblem);
  if (!isKeyOf(leaf.key, leaf.certificate)) return leafOnly('tls.key does not belong to tls.crt');
  if (!isIssuedBy(leaf.certificate, ca.certificate)) {
    // The CA has just been replaced and the process ended before the leaf was.
    return splitBundle(ca.previous ?? '').some((old) => isIssuedBy(leaf.certificate!, old))
      ? leafOnly('tls.crt was signed by the CA before')
      : both('tls.crt was not signed by the CA');
  }
  const info = inspectCertificate(leaf.certificate);
  if (info.isCa) return both('tls.crt is a CA');
  if (info.notBeforeMs > policy.nowMs) return both('tls.crt is not valid yet');
  if (!servesTls(leaf.certificate)) return both('tls.crt may not be used by servers');
  const lacks = policy.dnsNames.filter((name) => !info.dnsNames.includes(name));
  if (lacks.length > 0) return leafOnly(`tls.crt lacks ${lacks.join(', ')}`);
  return { make: 'nothing', why: 'the certificates are in order' };
}

function certificateProblem(name: string, pem: string, policy: CertificatePolicy): string | undefined {
  try {
    if (policy.nowMs <= renewalTimeMs(pem, policy.expirationBoundaryMs)) return undefined;
    return `${name} ends ${new Date(inspectCertificate(pem).notAfterMs).toISOString()}`;
  } catch {
    return `${name} cannot be read`;
  }
}

function servesTls(pem: string): boolean {
  const usages = new X509Certificate(pem).keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.length === 0 || usages.includes(serverAuth) || usages.includes(anyUsage);
}

/** The part of its life for which a new certificate has to be good; a boundary that leaves less would mean one on every pass. */
const leastUse = 0.1;

/** When a certificate is to be replaced: as the boundary says or, where its life is too short for that, after two thirds of it. */
export function renewalTimeMs(pem: string, expirationBoundaryMs: number): number {
  const { notBeforeMs, notAfterMs } = inspectCertificate(pem);
  const wholeMs = notAfterMs - notBeforeMs;
  // Ours begin in the past, which is no time they could be used in.
  const lifeMs = wholeMs > clockSkewMs ? wholeMs - clockSkewMs : wholeMs;
  const boundaryMs = -expirationBoundaryMs;
  return notAfterMs - (boundaryMs <= lifeMs * (1 - leastUse) ? boundaryMs : lifeMs / 3);
}
