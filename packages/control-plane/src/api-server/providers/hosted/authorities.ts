import { issueCa, nextAuthorityStep, type AuthorityPolicy, clockSkewMs } from '@slipway/runtime';

import type { Place } from './place.ts';
import { type FoundSecret, readSecret, writeSecret } from './secrets.ts';

/** One for users and the API server, one for etcd, one for API servers behind ours: none of them may speak for another. */
export const authorityNames = ['ca', 'etcd-ca', 'front-proxy-ca'] as const;
export type AuthorityName = (typeof authorityNames)[number];

/** A certificate authority of a control plane, PEM. */
export interface Authority {
  /** All that are trusted, the newest first. */
  readonly bundle: string;
  /** The newest, which signs. */
  readonly certificate: string;
  readonly key: string;
}

const dayMs = 86_400_000;

/**
 * People hold kubeconfigs with the authority in them: a new one is made known this long before it is used, and an old one is
 * trusted as long afterwards. With short lives it has to go faster.
 */
export function authorityPolicy({ settings }: Place): AuthorityPolicy {
  const caLifeMs = settings.authorityLifeMs;
  const patienceMs = Math.min(30 * dayMs, caLifeMs / 20);
  return { caLifeMs, caRenewBeforeMs: caLifeMs / 5, propagationMs: patienceMs, overlapMs: patienceMs };
}

/** An authority, made or succeeded where it is time. `leaves` are its certificates that are at work. */
export async function ensureAuthority(
  place: Place,
  name: AuthorityName,
  leaves: readonly string[],
): Promise<Authority> {
  let found = await readSecret(place, name);
  for (;;) {
    const { 'ca.crt': caBundle = '', 'tls.key': caKey = '' } = found.texts;
    const step = nextAuthorityStep({ caBundle, caKey }, leaves, authorityPolicy(place), place.nowMs);
    if (step.step === 'nothing') return authorityIn(found);
    if (step.step === 'drop-old-cas') {
      found = await write(place, name, found, { bundle: step.keep.join(''), key: caKey });
      return authorityIn(found);
    }
    const made = await issueCa({
      // Apart in their names too: some programs choose an authority of a bundle by name alone.
      commonName: `${name} ${new Date(place.nowMs).toISOString()}`,
      notBeforeMs: place.nowMs - clockSkewMs,
      notAfterMs: place.nowMs + place.settings.authorityLifeMs,
    });
    const older = step.step === 'start-over' ? step.keep.join('') : caBundle;
    found = await write(place, name, found, { bundle: made.certificate + older, key: made.privateKey });
  }
}

function authorityIn({ texts }: FoundSecret): Authority {
  return { bundle: texts['ca.crt']!, certificate: texts['tls.crt']!, key: texts['tls.key']! };
}

async function write(
  place: Place,
  name: AuthorityName,
  found: FoundSecret,
  { bundle, key }: { bundle: string; key: string },
): Promise<FoundSecret> {
  // The controller manager signs with exactly one certificate.
  const newest = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/.exec(bundle)![0];
  return await writeSecret(place, name, found, { 'ca.crt': bundle, 'tls.crt': newest, 'tls.key': key });
}
