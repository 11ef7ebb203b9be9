import { beforeAll, describe, expect, test } from 'vitest';

import { clockSkewMs } from './authority-plan.ts';
import { type CertificatePair, issueCa, issueLeaf } from './issue.ts';
import { nextServingStep, type ServingPolicy, type ServingState } from './serving-plan.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);
const policy: ServingPolicy = {
  dnsNames: ['hook.ns.svc'],
  ipAddresses: [],
  caLifeMs: 100 * day,
  caRenewBeforeMs: 40 * day,
  leafLifeMs: 20 * day,
  leafRenewBeforeMs: 5 * day,
  propagationMs: 600_000,
  overlapMs: 3_600_000,
};

function makeCa(at: number): Promise<CertificatePair> {
  return issueCa({ commonName: 'ca', notBeforeMs: at - clockSkewMs, notAfterMs: at + policy.caLifeMs });
}

function makeLeaf(ca: CertificatePair, at: number, dnsNames = policy.dnsNames): Promise<CertificatePair> {
  const validity = { notBeforeMs: at - clockSkewMs, notAfterMs: at + policy.leafLifeMs };
  return issueLeaf({ ca, commonName: 'leaf', dnsNames, ...validity });
}

describe('nextServingStep', () => {
  let oldCa: CertificatePair;
  let newCa: CertificatePair;
  let oldLeaf: CertificatePair;
  let newLeaf: CertificatePair;
  const rotation = start + 60 * day;

  beforeAll(async () => {
    oldCa = await makeCa(start);
    newCa = await makeCa(rotation);
    oldLeaf = await makeLeaf(oldCa, start);
    newLeaf = await makeLeaf(newCa, rotation);
  });

  const stateOf = (ca: CertificatePair, leaf: CertificatePair, older = ''): ServingState => ({
    caBundle: ca.certificate + older,
    caKey: ca.privateKey,
    certificate: leaf.certificate,
    key: leaf.privateKey,
  });

  test('an empty Secret: start over', () => {
    expect(nextServingStep({}, policy, start)).toMatchObject({ step: 'start-over', reason: 'there is no valid CA' });
  });

  test('fresh certificates: nothing', () => {
    expect(nextServingStep(stateOf(oldCa, oldLeaf), policy, start + day)).toEqual({ step: 'nothing' });
  });

  test('the key of the CA is another: start over, the old CA stays trusted', () => {
    const state = { ...stateOf(oldCa, oldLeaf), caKey: newCa.privateKey };
    expect(nextServingStep(state, policy, start)).toMatchObject({ step: 'start-over', keep: [oldCa.certificate] });
  });

  test('an ended CA: start over, and it is no longer trusted', () => {
    const plan = nextServingStep(stateOf(oldCa, oldLeaf), policy, start + 101 * day);
    expect(plan).toMatchObject({ step: 'start-over', keep: [] });
  });

  test.each<[string, () => Promise<Partial<ServingState>>]>([
    ['missing', async () => ({ certificate: undefined })],
    ['garbage', async () => ({ certificate: 'garbage' })],
    ['with a foreign key', async () => ({ key: newLeaf.privateKey })],
    ['of an unknown CA', async () => ({ certificate: newLeaf.certificate, key: newLeaf.privateKey })],
    [
      'with other names',
      async () => {
        const leaf = await makeLeaf(oldCa, start, ['other.ns.svc']);
        return { certificate: leaf.certificate, key: leaf.privateKey };
      },
    ],
  ])('a leaf that is %s: issue a new one', async (_title, change) => {
    const state = { ...stateOf(oldCa, oldLeaf), ...(await change()) };
    expect(nextServingStep(state, policy, start + day)).toMatchObject({ step: 'issue-leaf' });
  });

  test('a leaf near its end: issue a new one', () => {
    expect(nextServingStep(stateOf(oldCa, oldLeaf), policy, start + 15 * day)).toMatchObject({ step: 'issue-leaf' });
    expect(nextServingStep(stateOf(oldCa, oldLeaf), policy, start + 15 * day - 1)).toEqual({ step: 'nothing' });
  });

  test('rotation of the CA: announce, then serve, then forget the old', async () => {
    const servedBefore = await makeLeaf(oldCa, rotation - day);
    expect(nextServingStep(stateOf(oldCa, servedBefore), policy, rotation)).toMatchObject({ step: 'add-ca' });

    const announced = stateOf(newCa, servedBefore, oldCa.certificate);
    expect(nextServingStep(announced, policy, rotation + 599_000)).toEqual({ step: 'nothing' });
    expect(nextServingStep(announced, policy, rotation + 600_000)).toMatchObject({
      step: 'issue-leaf',
      reason: 'there is a newer CA',
    });

    const served = stateOf(newCa, newLeaf, oldCa.certificate);
    expect(nextServingStep(served, policy, rotation + 3_599_000)).toEqual({ step: 'nothing' });
    expect(nextServingStep(served, policy, rotation + 3_600_000)).toEqual({
      step: 'drop-old-cas',
      keep: [newCa.certificate],
    });
  });
});
