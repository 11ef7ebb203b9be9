import { inspectCertificate, isIssuedBy, isKeyOf, splitBundle } from './inspect.ts';

/** Serving certificates as they are kept in a Secret, all PEM. */
export interface ServingState {
  /** Every CA a client should trust, the newest first. */
  readonly caBundle: string;
  /** Key of the newest CA. */
  readonly caKey: string;
  readonly certificate: string;
  readonly key: string;
}

export interface ServingPolicy {
  /** Names the leaf must bear. */
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** Life of a CA, in milliseconds. */
  readonly caLifeMs: number;
  /** A CA with less life left is succeeded, in milliseconds. */
  readonly caRenewBeforeMs: number;
  readonly leafLifeMs: number;
  readonly leafRenewBeforeMs: number;
  /** How long a new CA has to be known before a leaf of it is served, in milliseconds. */
  readonly propagationMs: number;
  /** How long an old CA stays trusted after the leaf has changed, in milliseconds. */
  readonly overlapMs: number;
}

/** Certificates begin to be valid this much before they are made: clocks differ. */
export const clockSkewMs = 300_000;

export type ServingStep =
  /** Nothing usable is there: new CA, new leaf. CAs that still count stay in the bundle. */
  | { step: 'start-over'; reason: string; keep: readonly string[] }
  /** The CA nears its end: make the next one known, serve the old leaf on. */
  | { step: 'add-ca'; reason: string }
  | { step: 'issue-leaf'; reason: string }
  /** Nobody serves leaves of the old CAs any more. */
  | { step: 'drop-old-cas'; keep: readonly string[] }
  | { step: 'nothing' };

/**
 * The one next step for serving certificates. Order is what makes rotation seamless: a new CA is published first, leaves
 * of it are served after `propagationMs`, and the old CA goes `overlapMs` after that.
 */
export function nextServingStep(state: Partial<ServingState>, policy: ServingPolicy, now: number): ServingStep {
  const cas = splitBundle(state.caBundle ?? '').filter((pem) => isLiveCa(pem, now));
  const [newest, ...older] = cas;
  const startOver = (reason: string): ServingStep => ({ step: 'start-over', reason, keep: cas });
  if (!newest) return startOver('there is no valid CA');
  if (splitBundle(state.caBundle ?? '')[0] !== newest) return startOver('the newest CA is not valid');
  if (!isKeyOf(state.caKey ?? '', newest)) return startOver('the key of the CA is missing or belongs to another');
  const ca = inspectCertificate(newest);

  const [leaf] = splitBundle(state.certificate ?? '');
  const broken = leafProblem(leaf, state.key ?? '', cas, policy, now);
  if (broken !== undefined || !leaf) return { step: 'issue-leaf', reason: broken ?? 'there is no certificate' };
  const info = inspectCertificate(leaf);

  if (ca.notAfterMs - now <= policy.caRenewBeforeMs) {
    return { step: 'add-ca', reason: `the CA ends ${new Date(ca.notAfterMs).toISOString()}` };
  }
  if (!isIssuedBy(leaf, newest)) {
    const knownForMs = now - (ca.notBeforeMs + clockSkewMs);
    return knownForMs >= policy.propagationMs
      ? { step: 'issue-leaf', reason: 'there is a newer CA' }
      : { step: 'nothing' };
  }
  if (info.notAfterMs - now <= policy.leafRenewBeforeMs) {
    return { step: 'issue-leaf', reason: `the certificate ends ${new Date(info.notAfterMs).toISOString()}` };
  }
  const bundled = splitBundle(state.caBundle ?? '').length;
  const servedForMs = now - (info.notBeforeMs + clockSkewMs);
  if (bundled > 1 && (servedForMs >= policy.overlapMs || older.length < bundled - 1)) {
    return { step: 'drop-old-cas', keep: servedForMs >= policy.overlapMs ? [newest] : cas };
  }
  return { step: 'nothing' };
}

function isLiveCa(pem: string, now: number): boolean {
  try {
    const info = inspectCertificate(pem);
    return info.isCa && info.notAfterMs > now;
  } catch {
    return false;
  }
}

/** Why the leaf cannot be served, if so. */
function leafProblem(
  leaf: string | undefined,
  key: string,
  cas: readonly string[],
  policy: ServingPolicy,
  now: number,
): string | undefined {
  if (!leaf) return 'there is no certificate';
  try {
    const info = inspectCertificate(leaf);
    if (!isKeyOf(key, leaf)) return 'the key does not belong to the certificate';
    if (info.notAfterMs <= now) return 'the certificate has ended';
    if (!cas.some((ca) => isIssuedBy(leaf, ca))) return 'no known CA issued the certificate';
    const missing = [
      ...policy.dnsNames.filter((name) => !info.dnsNames.includes(name)),
      ...policy.ipAddresses.filter((address) => !info.ipAddresses.includes(address)),
    ];
    return missing.length > 0 ? `the certificate lacks ${missing.join(', ')}` : undefined;
  } catch {
    return 'the certificate cannot be read';
  }
}
