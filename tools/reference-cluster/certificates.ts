import 'reflect-metadata';
import { generateKeyPairSync, randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface KeyAndCertificate {
  /** PEM */
  certificate: string;
  /** PEM, PKCS #8 */
  key: string;
}

export interface CertificateRequest {
  commonName: string;
  /** Kubernetes reads them as the groups of a user. */
  organizations?: readonly string[];
  dnsNames?: readonly string[];
  ipAddresses?: readonly string[];
}

export interface CertificateAuthority {
  /** PEM */
  certificate: string;
  issue(request: CertificateRequest): Promise<KeyAndCertificate>;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 24 * 60 * 60 * 1000;

/** A certificate authority that lives as long as one cluster. */
export async function createCertificateAuthority(commonName: string): Promise<CertificateAuthority> {
  const provider = webcrypto as unknown as Crypto;
  const now = Date.now();
  const validity = { notBefore: new Date(now - dayMs), notAfter: new Date(now + 30 * dayMs) };
  const caKeys = await provider.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const ca = await x509.X509CertificateGenerator.createSelfSigned(
    {
      ...validity,
      serialNumber: serialNumber(),
      name: [{ CN: [commonName] }],
      signingAlgorithm: algorithm,
      keys: caKeys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
        await x509.SubjectKeyIdentifierExtension.create(caKeys.publicKey, false, provider),
      ],
    },
    provider,
  );

  return {
    certificate: ca.toString('pem'),
    async issue({ commonName, organizations = [], dnsNames = [], ipAddresses = [] }) {
      const keys = await provider.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const names = [
        ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
        ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
      ];
      const certificate = await x509.X509CertificateGenerator.create(
        {
          ...validity,
          serialNumber: serialNumber(),
          subject: [...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }],
          issuer: ca.subjectName,
          publicKey: keys.publicKey,
          signingKey: caKeys.privateKey,
          signingAlgorithm: algorithm,
          extensions: [
            new x509.BasicConstraintsExtension(false, undefined, true),
            new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
            new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
            await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey, false, provider),
            ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
          ],
        },
        provider,
      );
      const pkcs8 = await provider.subtle.exportKey('pkcs8', keys.privateKey);
      return { certificate: certificate.toString('pem'), key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY') };
    },
  };
}

/** The key pair that signs ServiceAccount tokens (RS256, as clusters have it). */
export function createServiceAccountKeys(): { privateKey: string; publicKey: string } {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

function serialNumber(): string {
  // A leading zero bit keeps the number positive.
  const bytes = randomBytes(16);
  bytes[0]! &= 0x7f;
  return bytes.toString('hex');
}
