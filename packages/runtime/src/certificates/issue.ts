import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import { promisify } from 'node:util';

// The machine's, given explicitly: the library would otherwise look for a global one.
const crypto = webcrypto as Crypto;

const generate = promisify(generateKeyPair);

/** Loaded when the first certificate is made: it takes longer to load than everything else an operator needs. */
async function x509Library() {
  await import('reflect-metadata');
  return await import('@peculiar/x509');
}

/** A certificate and its private key, both PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly privateKey: string;
}

export type KeyAlgorithm = { type: 'ecdsa' } | { type: 'rsa'; bits: 2048 | 3072 | 4096 };

/** `pkcs8`: `PRIVATE KEY`. `traditional`: `RSA PRIVATE KEY` (PKCS#1) or `EC PRIVATE KEY` (SEC 1). */
export type KeyEncoding = 'pkcs8' | 'traditional';

export interface IssueOptions {
  commonName: string;
  organization?: string;
  /** First moment of validity, epoch milliseconds. A few minutes ago is wise: clocks differ. */
  notBeforeMs: number;
  /** Last moment of validity, epoch milliseconds. */
  notAfterMs: number;
  /** Default: ECDSA on P-256. */
  key?: KeyAlgorithm;
  /** How the private key is written. Default `pkcs8`. */
  keyEncoding?: KeyEncoding;
  /** Hexadecimal. Default: 16 random bytes. */
  serialNumber?: string;
}

export interface LeafOptions extends IssueOptions {
  ca: CertificatePair;
  dnsNames?: readonly string[];
  ipAddresses?: readonly string[];
  /** What the certificate proves. Default: a server's identity. */
  usages?: readonly ('server' | 'client')[];
}

/** Makes a self-signed certificate authority that may sign leaves only. */
export async function issueCa(options: IssueOptions): Promise<CertificatePair> {
  checkValidity(options);
  const x509 = await x509Library();
  const keys = await makeKeys(options.key);
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: options.serialNumber ?? randomSerial(),
      subject: distinguishedName(options),
      issuer: distinguishedName(options),
      notBefore: new Date(options.notBeforeMs),
      notAfter: new Date(options.notAfterMs),
      publicKey: await publicCryptoKey(keys.privateKey),
      signingKey: await signingCryptoKey(keys.privateKey),
      signingAlgorithm: signatureOf(keys.privateKey),
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(await publicCryptoKey(keys.privateKey), false, crypto),
      ],
    },
    crypto,
  );
  return { certificate: asPem(certificate.rawData), privateKey: writeKey(keys.privateKey, options.keyEncoding) };
}

/** Makes a certificate signed by `ca`. Its end is cut to that of the CA. */
export async function issueLeaf(options: LeafOptions): Promise<CertificatePair> {
  checkValidity(options);
  const x509 = await x509Library();
  const { dnsNames = [], ipAddresses = [], usages = ['server'] } = options;
  const issuer = new X509Certificate(options.ca.certificate);
  const caKey = createPrivateKey(options.ca.privateKey);
  if (!issuer.checkPrivateKey(caKey))
    throw new Error('issueLeaf: the private key of the CA does not belong to its certificate');
  const keys = await makeKeys(options.key);
  const publicKey = await publicCryptoKey(keys.privateKey);
  const parsedIssuer = new x509.X509Certificate(issuer.raw);
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: options.serialNumber ?? randomSerial(),
      subject: distinguishedName(options),
      issuer: parsedIssuer.subjectName.toJSON(),
      notBefore: new Date(options.notBeforeMs),
      notAfter: new Date(Math.min(options.notAfterMs, issuer.validToDate.getTime())),
      publicKey,
      signingKey: await signingCryptoKey(caKey),
      signingAlgorithm: signatureOf(caKey),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
        new x509.ExtendedKeyUsageExtension(
          usages.map((usage) =>
            usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
          ),
        ),
        ...(dnsNames.length + ipAddresses.length > 0
          ? [
              new x509.SubjectAlternativeNameExtension([
                ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
                ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
              ]),
            ]
          : []),
        await x509.AuthorityKeyIdentifierExtension.create(parsedIssuer.publicKey, false, crypto),
        await x509.SubjectKeyIdentifierExtension.create(publicKey, false, crypto),
      ],
    },
    crypto,
  );
  return { certificate: asPem(certificate.rawData), privateKey: writeKey(keys.privateKey, options.keyEncoding) };
}

function checkValidity(options: IssueOptions): void {
  if (!(options.notAfterMs > options.notBeforeMs)) {
    throw new RangeError(`certificate '${options.commonName}': notAfterMs must be later than notBeforeMs`);
  }
}

async function makeKeys(algorithm: KeyAlgorithm = { type: 'ecdsa' }): Promise<{ privateKey: KeyObject }> {
  return algorithm.type === 'rsa'
    ? generate('rsa', { modulusLength: algorithm.bits })
    : generate('ec', { namedCurve: 'P-256' });
}

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' };
const rsa = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

function isRsa(key: KeyObject): boolean {
  return key.asymmetricKeyType === 'rsa';
}

function signatureOf(key: KeyObject): { name: string; hash: string } {
  return isRsa(key) ? rsa : { name: 'ECDSA', hash: 'SHA-256' };
}

async function signingCryptoKey(key: KeyObject): Promise<CryptoKey> {
  const der = key.export({ type: 'pkcs8', format: 'der' });
  return crypto.subtle.importKey('pkcs8', new Uint8Array(der), isRsa(key) ? rsa : ecdsa, true, ['sign']);
}

async function publicCryptoKey(key: KeyObject): Promise<CryptoKey> {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return crypto.subtle.importKey('spki', new Uint8Array(der), isRsa(key) ? rsa : ecdsa, true, ['verify']);
}

function writeKey(key: KeyObject, encoding: KeyEncoding = 'pkcs8'): string {
  const type = encoding === 'pkcs8' ? 'pkcs8' : isRsa(key) ? 'pkcs1' : 'sec1';
  return key.export({ type: type as 'pkcs8', format: 'pem' }) as string;
}

function asPem(der: ArrayBuffer): string {
  return new X509Certificate(new Uint8Array(der)).toString();
}

/** 16 random bytes whose first bit is 0: serial numbers are positive. */
function randomSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x01;
  return bytes.toString('hex');
}

function distinguishedName(options: IssueOptions): { [name: string]: string[] }[] {
  return [...(options.organization === undefined ? [] : [{ O: [options.organization] }]), { CN: [options.commonName] }];
}
