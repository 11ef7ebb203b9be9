import { issueCa } from '@slipway/runtime';
import type { Clock } from '@slipway/kube';

import { isEmpty, type Tree, valueAt } from '../values/tree.ts';

const tenYearsMs = 10 * 365 * 86_400_000;
const certManager = ['apps', 'cert-manager'];

/** A certificate authority for the platform, unless the values bring one. */
export async function createCustomCA(input: Tree, clock: Clock): Promise<Tree> {
  const certificate = valueAt(input, [...certManager, 'customRootCA']);
  const key = valueAt(input, [...certManager, 'customRootCAKey']);
  if (!isEmpty(certificate) && !isEmpty(key)) return {};
  const made = await issueCa({
    commonName: 'Slipway platform CA',
    organization: 'Slipway',
    notBeforeMs: clock.now() - 300_000,
    notAfterMs: clock.now() + tenYearsMs,
    key: { type: 'rsa', bits: 2048 },
    serialNumber: '01',
  });
  return { apps: { 'cert-manager': { customRootCA: made.certificate, customRootCAKey: made.privateKey } } };
}
