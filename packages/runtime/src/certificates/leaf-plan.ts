import { type AuthorityPolicy, clockSkewMs } from './authority-plan.ts';
import { inspectCertificate, isIssuedBy, isKeyOf } from './inspect.ts';

export interface LeafPolicy extends Pick<AuthorityPolicy, 'propagationMs'> {
  /** Names the leaf must bear. */
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly leafLifeMs: number;
  /** A leaf with less life left is replaced, in milliseconds. */
  readonly leafRenewBeforeMs: number;
}

/** Why the leaf (PEM) cannot be served, if so. `cas` are those that are trusted. */
export function leafProblem(
  leaf: string | undefined,
  key: string,
  cas: readonly string[],
  policy: Pick<LeafPolicy, 'dnsNames' | 'ipAddresses'>,
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

/** Why a leaf that can be served should be replaced now, if so. A newer CA has to be known for a while first. */
export function leafRenewal(
  leaf: string,
  newestCa: string,
  policy: Pick<LeafPolicy, 'leafRenewBeforeMs' | 'propagationMs'>,
  now: number,
): string | undefined {
  if (!isIssuedBy(leaf, newestCa)) {
    const knownForMs = now - (inspectCertificate(newestCa).notBeforeMs + clockSkewMs);
    return knownForMs >= policy.propagationMs ? 'there is a newer CA' : undefined;
  }
  const { notAfterMs } = inspectCertificate(leaf);
  if (notAfterMs - now > policy.leafRenewBeforeMs) return undefined;
  return `the certificate ends ${new Date(notAfterMs).toISOString()}`;
}
