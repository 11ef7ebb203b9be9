import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import type * as Asn1 from '@peculiar/asn1-schema';
import type * as X509 from '@peculiar/asn1-x509';
import { show } from '../go/format.ts';
import { GoObject, type Value } from '../go/values.ts';

const require = createRequire(import.meta.url);

/** Loaded by the first certificate: few charts make any, and these take longer to load than a small chart to render. */
const asn1 = () => require('@peculiar/asn1-schema') as typeof Asn1;
const x509 = () => require('@peculiar/asn1-x509') as typeof X509;

/**
 * X.509 for `genCA` and its siblings. The structures and their encoding come from @peculiar/asn1-x509, keys and signatures
 * from Node: both answer at once, which a template needs.
 */
export class CertificatePair extends GoObject {
  override readonly goType = 'sprig.certificate';
  readonly cert: string;
  readonly key: string;

  constructor(cert: string, key: string) {
    super();
    this.cert = cert;
    this.key = key;
  }

  override field(name: string): Value | undefined {
    return { Cert: this.cert, Key: this.key }[name];
  }

  override text(): string {
    return `{${this.cert} ${this.key}}`;
  }

  override plain(): Value {
    return new Map([
      ['Cert', this.cert],
      ['Key', this.key],
    ]);
  }
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly ips?: Value[] | null;
  readonly dnsNames?: Value[] | null;
  readonly days: bigint;
  readonly isAuthority: boolean;
  readonly key: KeyObject;
  readonly now: number;
  readonly serialNumber: Uint8Array;
  /** Who signs; without one the certificate signs itself. */
  readonly signer?: CertificatePair;
}

const day = 86_400_000;
const commonNameId = '2.5.4.3';

export function issueCertificate(request: CertificateRequest): CertificatePair {
  const { AsnConvert } = asn1();
  const { Certificate, SubjectPublicKeyInfo, TBSCertificate, Validity, Version } = x509();
  const subject = nameOf(request.commonName);
  const signer = request.signer ? readSigner(request.signer) : undefined;
  const algorithm = algorithmOf(signer?.key ?? request.key);
  const publicKey = createPublicKey(request.key).export({ type: 'spki', format: 'der' });
  const keyInfo = AsnConvert.parse(publicKey, SubjectPublicKeyInfo);
  const tbs = new TBSCertificate({
    version: Version.v3,
    serialNumber: positive(request.serialNumber),
    signature: algorithm,
    issuer: signer?.certificate.tbsCertificate.subject ?? subject,
    validity: new Validity({
      notBefore: new Date(request.now),
      notAfter: new Date(request.now + Number(request.days) * day),
    }),
    subject,
    subjectPublicKeyInfo: keyInfo,
    extensions: extensionsOf(request, keyInfo, signer?.certificate),
  });
  const encoded = Buffer.from(AsnConvert.serialize(tbs));
  const signature = sign(digestOf(signer?.key ?? request.key), encoded, signer?.key ?? request.key);
  const certificate = new Certificate({
    tbsCertificate: tbs,
    signatureAlgorithm: algorithm,
    signatureValue: new Uint8Array(signature).buffer,
  });
  return new CertificatePair(pem('CERTIFICATE', Buffer.from(AsnConvert.serialize(certificate))), keyToPem(request.key));
}

function nameOf(commonName: string): X509.Name {
  const { AttributeTypeAndValue, AttributeValue, Name, RelativeDistinguishedName } = x509();
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: commonNameId, value })])]);
}

function positive(serial: Uint8Array): ArrayBuffer {
  const bytes = new Uint8Array(serial);
  // Neither negative nor with zeros before it: DER allows one form only.
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes.buffer;
}

function extensionsOf(
  request: CertificateRequest,
  key: X509.SubjectPublicKeyInfo,
  signer: X509.Certificate | undefined,
): X509.Extensions {
  const X = x509();
  const { isAuthority } = request;
  const { digitalSignature, keyEncipherment, keyCertSign } = X.KeyUsageFlags;
  const usage = digitalSignature | keyEncipherment | (isAuthority ? keyCertSign : 0);
  const list = [
    extension(X.id_ce_keyUsage, new X.KeyUsage(usage), true),
    extension(X.id_ce_extKeyUsage, new X.ExtendedKeyUsage([X.id_kp_serverAuth, X.id_kp_clientAuth])),
    extension(X.id_ce_basicConstraints, new X.BasicConstraints({ cA: isAuthority }), true),
  ];
  const identifier = keyIdentifier(key);
  if (isAuthority) list.push(extension(X.id_ce_subjectKeyIdentifier, new X.SubjectKeyIdentifier(identifier)));
  if (signer) {
    const keyId = new X.KeyIdentifier(keyIdentifier(signer.tbsCertificate.subjectPublicKeyInfo));
    list.push(extension(X.id_ce_authorityKeyIdentifier, new X.AuthorityKeyIdentifier({ keyIdentifier: keyId })));
  }
  const names = [
    ...texts(request.dnsNames, (value) => `error processing alternate dns name: ${show(value)} is not a string`).map(
      (dNSName) => new X.GeneralName({ dNSName }),
    ),
    ...texts(request.ips, (value) => `error parsing ip: ${show(value)} is not a string`).map((address) => {
      if (isIP(address) === 0) throw new Error(`error parsing ip: ${address}`);
      return new X.GeneralName({ iPAddress: address });
    }),
  ];
  if (names.length > 0) list.push(extension(X.id_ce_subjectAltName, new X.SubjectAlternativeName(names)));
  return new X.Extensions(list);
}

function extension(extnID: string, value: object, critical = false): X509.Extension {
  const { AsnConvert, OctetString } = asn1();
  return new (x509().Extension)({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function keyIdentifier(key: X509.SubjectPublicKeyInfo): ArrayBuffer {
  const digest = createHash('sha1').update(new Uint8Array(key.subjectPublicKey)).digest();
  return new Uint8Array(digest).buffer;
}

function texts(values: Value[] | null | undefined, complaint: (value: Value) => string): string[] {
  return (values ?? []).map((value) => {
    if (typeof value !== 'string') throw new Error(complaint(value));
    return value;
  });
}

function readSigner(pair: CertificatePair): { certificate: X509.Certificate; key: KeyObject } {
  return { certificate: readCertificate(pair.cert), key: readPrivateKey(pair.key) };
}

export function readCertificate(text: string): X509.Certificate {
  const match = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/.exec(text);
  if (!match) throw new Error('unable to decode certificate');
  try {
    return asn1().AsnConvert.parse(Buffer.from(match[1]!, 'base64'), x509().Certificate);
  } catch (error) {
    throw new Error(`error parsing certificate: ${(error as Error).message}`, { cause: error });
  }
}

export function readPrivateKey(text: string): KeyObject {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw new Error('error parsing private key: no PEM data in input');
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw new Error(`error parsing private key: ${(error as Error).message}`, { cause: error });
  }
}

const algorithms: Readonly<Record<string, { id: string; digest: string | null; parameters?: null }>> = {
  rsa: { id: '1.2.840.113549.1.1.11', digest: 'sha256', parameters: null },
  ec: { id: '1.2.840.10045.4.3.2', digest: 'sha256' },
  ed25519: { id: '1.3.101.112', digest: null },
};

function known(key: KeyObject) {
  const found = algorithms[key.asymmetricKeyType ?? ''];
  if (!found) throw new Error('x509: only RSA, ECDSA and Ed25519 keys supported');
  return found;
}

function algorithmOf(key: KeyObject): X509.AlgorithmIdentifier {
  const { id, parameters } = known(key);
  return new (x509().AlgorithmIdentifier)({ algorithm: id, ...(parameters === null ? { parameters: null } : {}) });
}

function digestOf(key: KeyObject): string | null {
  return known(key).digest;
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** Each kind of key in the form Go writes it. */
function keyToPem(key: KeyObject): string {
  const type = key.asymmetricKeyType === 'rsa' ? 'pkcs1' : key.asymmetricKeyType === 'ec' ? 'sec1' : 'pkcs8';
  return key.export({ type, format: 'pem' }) as string;
}

function newRsaKey(bits: number): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: bits }).privateKey;
}

/** `genPrivateKey` */
export function newPrivateKey(type: string): string {
  switch (type) {
    case '':
    case 'rsa':
      return keyToPem(newRsaKey(4096));
    case 'ecdsa':
      return keyToPem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
    case 'ed25519':
      return keyToPem(generateKeyPairSync('ed25519').privateKey);
    case 'dsa': {
      const { privateKey } = generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 });
      return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    }
    default:
      return `Unknown type ${type}`;
  }
}
