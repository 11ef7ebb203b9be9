import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { Clock } from './clock.ts';

/** A certificate and its private key, both PEM. */
export interface KeyAndCertificate {
  readonly certificate: string;
  /** PKCS #8. */
  readonly key: string;
}

export interface CertificateRequest {
  /** As a client: the user name. */
  readonly commonName: string;
  /** As a client: the groups. */
  readonly organizations?: readonly string[];
  /** As a server: the names it answers to. */
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** Default `both`. */
  readonly usage?: 'client' | 'server' | 'both';
  /** How long it is valid, counted on the cluster's clock. Default: to the end of 2049. */
  readonly validDays?: number;
}

/** Signs the certificates of one cluster. */
export interface CertificateAuthority {
  /** PEM. */
  readonly certificate: string;
  /** Certificate and private key, PEM: what {@link restoreCertificateAuthority} takes. */
  export(): Promise<string>;
  issue(request: CertificateRequest): Promise<KeyAndCertificate>;
}

export interface CertificateAuthorityOptions {
  readonly clock: Clock;
  /** Default `kubernetes`. */
  readonly commonName?: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;
/** TLS libraries look at the machine's clock, not at the cluster's, which may be virtual: the default validity suits both. */
const ALWAYS = { notBefore: new Date('2000-01-01T00:00:00Z'), notAfter: new Date('2049-12-31T23:59:59Z') };

const provider = webcrypto as unknown as Crypto;

/** Makes a certificate authority of its own: a new key and a self-signed certificate. */
export async function createCertificateAuthority(options: CertificateAuthorityOptions): Promise<CertificateAuthority> {
  const { clock } = options;
  const keys = await provider.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const ca = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serialNumber(),
      ...ALWAYS,
      name: [{ CN: [options.commonName ?? 'kubernetes'] }],
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, provider),
      ],
    },
    provider,
  );
  return authorityOf({ ca, signingKey: keys.privateKey, caPublicKey: keys.publicKey, clock });
}

/** The authority that was exported as `pem`. */
export async function restoreCertificateAuthority(
  pem: string,
  options: Pick<CertificateAuthorityOptions, 'clock'>,
): Promise<CertificateAuthority> {
  const parts = x509.PemConverter.decodeWithHeaders(pem);
  const part = (type: string) => {
    const found = parts.find((one) => one.type === type);
    if (!found) throw new Error(`there is no ${type}`);
    return found.rawData;
  };
  const ca = new x509.X509Certificate(part('CERTIFICATE'));
  const signingKey = await provider.subtle.importKey('pkcs8', part('PRIVATE KEY'), ALGORITHM, true, ['sign']);
  const caPublicKey = await ca.publicKey.export(ALGORITHM, ['verify'], provider);
  return authorityOf({ ca, signingKey, caPublicKey, clock: options.clock });
}

function authorityOf(issuer: Issuer): CertificateAuthority {
  const certificate = `${issuer.ca.toString('pem')}\n`;
  return {
    certificate,
    export: async () => `${certificate}${await privateKeyPem(issuer.signingKey)}`,
    issue: (request) => issue(request, issuer),
  };
}

async function privateKeyPem(key: CryptoKey): Promise<string> {
  const pkcs8 = await provider.subtle.exportKey('pkcs8', key);
  return `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`;
}

interface Issuer {
  readonly ca: x509.X509Certificate;
  readonly signingKey: CryptoKey;
  readonly caPublicKey: CryptoKey;
  readonly clock: Clock;
}

type CryptoKey = Awaited<ReturnType<typeof provider.subtle.importKey>>;

async function issue(request: CertificateRequest, issuer: Issuer): Promise<KeyAndCertificate> {
  const { commonName, organizations = [], dnsNames = [], ipAddresses = [], usage = 'both' } = request;
  const { clock } = issuer;
  const keys = await provider.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  const purposes = [
    ...(usage === 'client' ? [] : [x509.ExtendedKeyUsage.serverAuth]),
    ...(usage === 'server' ? [] : [x509.ExtendedKeyUsage.clientAuth]),
  ];
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(),
      ...ALWAYS,
      ...(request.validDays === undefined ? {} : { notAfter: new Date(clock.now() + request.validDays * DAY_MS) }),
      subject: [...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }],
      issuer: issuer.ca.subjectName,
      publicKey: keys.publicKey,
      signingKey: issuer.signingKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension(purposes),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.caPublicKey, false, provider),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ],
    },
    provider,
  );
  return { certificate: `${certificate.toString('pem')}\n`, key: await privateKeyPem(keys.privateKey) };
}

function serialNumber(): string {
  // The highest bit stays clear: serial numbers are positive.
  const bytes = randomBytes(16);
  bytes[0]! &= 0x7f;
  bytes[0]! |= 0x40;
  return bytes.toString('hex');
}

/** The names and addresses an API server on this machine is called by. */
export function serverNames(host: string): { dnsNames: string[]; ipAddresses: string[] } {
  const isAddress = /^[\d.]+$/.test(host) || host.includes(':');
  return {
    dnsNames: [
      ...(isAddress ? [] : [host]),
      'localhost',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
    ],
    ipAddresses: [...new Set([...(isAddress ? [host] : []), '127.0.0.1', '::1'])],
  };
}
