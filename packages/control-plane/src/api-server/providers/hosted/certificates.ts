import {
  clockSkewMs,
  inspectCertificate,
  issueLeaf,
  leafProblem,
  leafRenewal,
  liveCas,
  splitBundle,
} from '@slipway/runtime';

import { certificateKubeconfig } from '../../../target/kubeconfig.ts';
import type { Address } from './address.ts';
import { type Authority, authorityPolicy, ensureAuthority, type AuthorityName, authorityNames } from './authorities.ts';
import { insideUrl, objectNames, type Place } from './place.ts';
import { type FoundSecret, readSecret, type Texts, writeSecret } from './secrets.ts';

/** Secrets with a certificate each: `tls.crt`, `tls.key`, `ca.crt`, and `kubeconfig` where somebody logs in with it. */
export const certificateNames = {
  etcd: 'etcd-certificate',
  etcdClient: 'apiserver-etcd-client',
  apiServer: 'apiserver-certificate',
  frontProxyClient: 'front-proxy-client',
  controllerManager: 'controller-manager-kubeconfig',
  admin: 'admin-kubeconfig',
} as const;
type CertificateName = keyof typeof certificateNames;

interface Leaf {
  readonly authority: AuthorityName;
  readonly commonName: string;
  /** Kubernetes reads it as the group of the user. */
  readonly organization?: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
  /** Where the user of this certificate logs in. */
  readonly server?: string;
}

export const frontProxyUser = 'front-proxy-client';

function leavesOf(place: Place, address: Address): Readonly<Record<CertificateName, Leaf>> {
  const { namespace } = place;
  const { dnsNames, ipAddresses } = address;
  const client = { usages: ['client'] } as const;
  return {
    // Members are servers and clients of each other.
    etcd: {
      authority: 'etcd-ca',
      commonName: 'etcd',
      dnsNames: etcdNames(place),
      ipAddresses: ['127.0.0.1'],
      usages: ['server', 'client'],
    },
    etcdClient: { authority: 'etcd-ca', commonName: `apiserver.${namespace}`.slice(0, 64), ...client },
    apiServer: { authority: 'ca', commonName: 'kube-apiserver', dnsNames, ipAddresses, usages: ['server'] },
    frontProxyClient: { authority: 'front-proxy-ca', commonName: frontProxyUser, ...client },
    controllerManager: {
      authority: 'ca',
      commonName: 'system:kube-controller-manager',
      ...client,
      server: insideUrl(place),
    },
    admin: {
      authority: 'ca',
      commonName: 'slipway-admin',
      organization: 'system:masters',
      ...client,
      server: address.url,
    },
  };
}

/** Names of the members of etcd, whatever their number. */
export function etcdNames({ namespace }: Place): string[] {
  const members = Array.from({ length: mostMembers }, (_, index) => `${objectNames.etcd}-${index}`);
  const names = members.map((member) => `${member}.${objectNames.etcd}.${namespace}.svc`);
  return [...names, `${objectNames.etcd}.${namespace}.svc`, 'localhost'];
}

/** More only make etcd slower. */
export const mostMembers = 7;

/** What the control plane proves itself with. */
export interface Credentials {
  readonly authorities: Readonly<Record<AuthorityName, Authority>>;
  readonly certificates: Readonly<Record<CertificateName, Texts>>;
  /** When the next of them is due. */
  readonly renewAtMs: number;
}

/** Step 3: authorities and certificates, made where they are missing and renewed before they end. */
export async function ensureCertificates(place: Place, address: Address): Promise<Credentials> {
  const leaves = Object.entries(leavesOf(place, address)) as [CertificateName, Leaf][];
  const found = new Map<CertificateName, FoundSecret>();
  for (const [name] of leaves) found.set(name, await readSecret(place, certificateNames[name]));

  const authorities = {} as Record<AuthorityName, Authority>;
  for (const authority of authorityNames) {
    const atWork = leaves.flatMap(([name, leaf]) =>
      leaf.authority === authority ? splitBundle(found.get(name)!.texts['tls.crt'] ?? '').filter(isReadable) : [],
    );
    authorities[authority] = await ensureAuthority(place, authority, atWork);
  }
  const certificates = {} as Record<CertificateName, Texts>;
  for (const [name, leaf] of leaves) {
    const next = await nextTexts(place, leaf, authorities[leaf.authority], found.get(name)!.texts);
    certificates[name] = next;
    if (!sameTexts(next, found.get(name)!.texts))
      await writeSecret(place, certificateNames[name], found.get(name)!, next);
  }
  return { authorities, certificates, renewAtMs: nextRenewalMs(place, authorities, certificates) };
}

async function nextTexts(place: Place, leaf: Leaf, authority: Authority, texts: Texts): Promise<Texts> {
  const { nowMs } = place;
  const policy = leafPolicy(place, leaf);
  const [present] = splitBundle(texts['tls.crt'] ?? '');
  const cas = liveCas(authority.bundle, nowMs);
  const due =
    leafProblem(present, texts['tls.key'] ?? '', cas, policy, nowMs) ??
    leafRenewal(present!, authority.certificate, policy, nowMs);
  const pair =
    due === undefined ? { certificate: present!, privateKey: texts['tls.key']! } : await issue(place, leaf, authority);
  const { server } = leaf;
  return {
    'ca.crt': authority.bundle,
    'tls.crt': pair.certificate,
    'tls.key': pair.privateKey,
    ...(server
      ? {
          kubeconfig: certificateKubeconfig({
            server,
            certificateAuthority: authority.bundle,
            ...pair,
            user: leaf.commonName,
          }),
        }
      : {}),
  };
}

function leafPolicy(place: Place, { dnsNames = [], ipAddresses = [] }: Leaf) {
  const leafLifeMs = place.settings.certificateLifeMs;
  return {
    dnsNames,
    ipAddresses,
    leafLifeMs,
    leafRenewBeforeMs: leafLifeMs / 3,
    propagationMs: authorityPolicy(place).propagationMs,
  };
}

async function issue({ nowMs, settings }: Place, leaf: Leaf, { certificate, key }: Authority) {
  const { commonName, organization, dnsNames, ipAddresses, usages } = leaf;
  return await issueLeaf({
    ca: { certificate, privateKey: key },
    commonName,
    ...(organization ? { organization } : {}),
    ...(dnsNames ? { dnsNames } : {}),
    ...(ipAddresses ? { ipAddresses } : {}),
    usages,
    notBeforeMs: nowMs - clockSkewMs,
    notAfterMs: nowMs + settings.certificateLifeMs,
  });
}

function isReadable(pem: string): boolean {
  try {
    return inspectCertificate(pem).notAfterMs > 0;
  } catch {
    return false;
  }
}

function sameTexts(a: Texts, b: Texts): boolean {
  return Object.keys({ ...a, ...b }).every((key) => a[key] === b[key]);
}

/** Whatever comes first: the end of an authority, of a certificate, or of the wait between the two. */
function nextRenewalMs(
  place: Place,
  authorities: Readonly<Record<AuthorityName, Authority>>,
  certificates: Readonly<Record<CertificateName, Texts>>,
): number {
  const { caRenewBeforeMs, propagationMs } = authorityPolicy(place);
  const times = Object.values(certificates).map(
    (texts) => inspectCertificate(texts['tls.crt']!).notAfterMs - place.settings.certificateLifeMs / 3,
  );
  for (const { bundle, certificate } of Object.values(authorities)) {
    const { notBeforeMs, notAfterMs } = inspectCertificate(certificate);
    times.push(notAfterMs - caRenewBeforeMs);
    // A succession is under way: the next step of it is not far.
    if (splitBundle(bundle).length > 1)
      times.push(Math.max(notBeforeMs + propagationMs, place.nowMs + propagationMs / 10));
  }
  return Math.min(...times);
}
