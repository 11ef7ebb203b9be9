import { inspectCertificate, isIssuedBy, isKeyOf, splitBundle } from './inspect.ts';

/** A certificate authority as it is kept in a Secret, PEM. */
export interface AuthorityState {
  /** Every CA that is trusted, the newest first. */
  readonly caBundle: string;
  /** Key of the newest CA. */
  readonly caKey: string;
}

export interface AuthorityPolicy {
  /** Life of a CA, in milliseconds. */
  readonly caLifeMs: number;
  /** A CA with less life left is succeeded, in milliseconds. */
  readonly caRenewBeforeMs: number;
  /** How long a new CA has to be known before a leaf of it is served, in milliseconds. */
  readonly propagationMs: number;
  /** How long an old CA stays trusted after the last leaf has changed, in milliseconds. */
  readonly overlapMs: number;
}

/** Certificates begin to be valid this much before they are made: clocks differ. */
export const clockSkewMs = 300_000;

export type AuthorityStep =
  /** Nothing usable is there: a new CA. CAs that still count stay in the bundle. */
  | { step: 'start-over'; reason: string; keep: readonly string[] }
  /** The CA nears its end: make the next one known, serve the old leaves on. */
  | { step: 'add-ca'; reason: string }
  /** Nobody serves leaves of the old CAs any more. */
  | { step: 'drop-old-cas'; keep: readonly string[] }
  | { step: 'nothing' };

/** The CAs of a bundle that still count, in their order. */
export function liveCas(caBundle: string, now: number): string[] {
  return splitBundle(caBundle).filter((pem) => isLiveCa(pem, now));
}

/** The one next step for an authority with these leaves (PEM) at work. */
export function nextAuthorityStep(
  state: Partial<AuthorityState>,
  leaves: readonly string[],
  policy: AuthorityPolicy,
  now: number,
): AuthorityStep {
  const bundled = splitBundle(state.caBundle ?? '');
  const cas = liveCas(state.caBundle ?? '', now);
  const [newest] = cas;
  const startOver = (reason: string): AuthorityStep => ({ step: 'start-over', reason, keep: cas });
  if (!newest) return startOver('there is no valid CA');
  if (bundled[0] !== newest) return startOver('the newest CA is not valid');
  if (!isKeyOf(state.caKey ?? '', newest)) return startOver('the key of the CA is missing or belongs to another');
  const ca = inspectCertificate(newest);
  if (ca.notAfterMs - now <= policy.caRenewBeforeMs) {
    return { step: 'add-ca', reason: `the CA ends ${new Date(ca.notAfterMs).toISOString()}` };
  }
  if (bundled.length === 1 || !leaves.every((leaf) => isIssuedBy(leaf, newest))) return { step: 'nothing' };
  const newestLeafMs = Math.max(...leaves.map((leaf) => inspectCertificate(leaf).notBeforeMs)) + clockSkewMs;
  if (now - newestLeafMs >= policy.overlapMs) return { step: 'drop-old-cas', keep: [newest] };
  return cas.length < bundled.length ? { step: 'drop-old-cas', keep: cas } : { step: 'nothing' };
}

function isLiveCa(pem: string, now: number): boolean {
  try {
    const info = inspectCertificate(pem);
    return info.isCa && info.notAfterMs > now;
  } catch {
    return false;
  }
}
