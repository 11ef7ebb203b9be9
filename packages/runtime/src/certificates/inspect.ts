import { createPrivateKey, X509Certificate } from 'node:crypto';

/** What a certificate says. Times in epoch milliseconds. */
export interface CertificateInfo {
  readonly subject: string;
  readonly issuer: string;
  readonly serialNumber: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly isCa: boolean;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly key: { readonly type: string; readonly bits?: number };
  /** SHA-256 of the whole certificate, colon-separated. */
  readonly fingerprint: string;
}

/** Reads the first certificate of a PEM text. Text that is none is an error. */
export function inspectCertificate(pem: string): CertificateInfo {
  const certificate = parse(pem);
  const names = (certificate.subjectAltName ?? '').split(', ').filter(Boolean);
  const { asymmetricKeyType = 'unknown', asymmetricKeyDetails } = certificate.publicKey;
  return {
    subject: certificate.subject,
    issuer: certificate.issuer,
    serialNumber: certificate.serialNumber,
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
    isCa: certificate.ca,
    dnsNames: names.filter((name) => name.startsWith('DNS:')).map((name) => name.slice(4)),
    ipAddresses: names.filter((name) => name.startsWith('IP Address:')).map((name) => name.slice(11)),
    key: { type: asymmetricKeyType, bits: asymmetricKeyDetails?.modulusLength },
    fingerprint: certificate.fingerprint256,
  };
}

/** Whether `ca` signed `certificate`. */
export function isIssuedBy(certificate: string, ca: string): boolean {
  const leaf = parse(certificate);
  const issuer = parse(ca);
  return leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey);
}

/** Whether a private key (PEM) belongs to a certificate. False also for text that is no key. */
export function isKeyOf(privateKey: string, certificate: string): boolean {
  try {
    return parse(certificate).checkPrivateKey(createPrivateKey(privateKey));
  } catch {
    return false;
  }
}

/** The certificates of a bundle, one PEM text each. Anything else in the text is left out. */
export function splitBundle(pem: string): string[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((text) => `${text}\n`);
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    // The text itself is not repeated: it may be a private key in the wrong place.
    throw new Error('not a PEM certificate', { cause: error });
  }
}
