import { createCipheriv, createDecipheriv, createHmac, scryptSync } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Bcrypt from 'bcryptjs';
import { bytesToText, textToBytes } from '../go/bytes.ts';
import type { GoObject, Value } from '../go/values.ts';
import type { FunctionTable, Run, TemplateFunction } from '../template/run.ts';
import { fn, inRun } from '../template/signature.ts';
import { decodeBase64 } from './base-encodings.ts';
import {
  CertificatePair,
  issueCertificate,
  newPrivateKey,
  readCertificate,
  readPrivateKey,
  type CertificateRequest,
} from './certificates.ts';
import { environmentOf } from './environment.ts';
import { keyStock } from './key-stock.ts';

const require = createRequire(import.meta.url);

/** Steps that a hash which is slow on purpose, or a certificate, counts for: a template may ask for a hundred. */
const slowSteps = 50_000;
/** A key of 4096 bits, and the slowest hash: a template may ask for twenty. */
const slowestSteps = 250_000;

const bcryptCost = 10;
/** bcrypt reads no further; Go refuses more. */
const longestPassword = 72;

function hashPassword(run: Run, password: string): string {
  if (textToBytes(password).length > longestPassword)
    return 'failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes';
  run.step(slowSteps);
  const bcrypt = require('bcryptjs') as typeof Bcrypt;
  const { randomBytes } = environmentOf(run);
  const salt = `$2a$${bcryptCost}$${bcrypt.encodeBase64([...randomBytes(16)], 16)}`;
  return bcrypt.hashSync(password, salt);
}

function aesKey(password: string): Uint8Array {
  const key = new Uint8Array(32);
  key.set(textToBytes(password).subarray(0, 32));
  return key;
}

function encryptAes(run: Run, password: string, text: string): string {
  if (text === '') return '';
  const iv = environmentOf(run).randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', aesKey(password), iv);
  return Buffer.concat([iv, cipher.update(textToBytes(text)), cipher.final()]).toString('base64');
}

function decryptAes(password: string, encoded: string): string {
  if (encoded === '') return '';
  const bytes = decodeBase64(encoded);
  if (bytes.length < 32 || bytes.length % 16 !== 0) throw new Error('crypto/cipher: input not full blocks');
  const decipher = createDecipheriv('aes-256-cbc', aesKey(password), bytes.subarray(0, 16)).setAutoPadding(false);
  const plain = Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]);
  const padding = plain.at(-1)!;
  if (padding > plain.length) throw new Error('runtime error: slice bounds out of range');
  return bytesToText(plain.subarray(0, plain.length - padding));
}

/** The Master Password algorithm. */
const seed = 'com.lyndir.masterpassword';
const passwordShapes: Readonly<Record<string, readonly string[]>> = {
  maximum: ['anoxxxxxxxxxxxxxxxxx', 'axxxxxxxxxxxxxxxxxno'],
  long: [
    'CvcvnoCvcvCvcv',
    'CvcvCvcvnoCvcv',
    'CvcvCvcvCvcvno',
    'CvccnoCvcvCvcv',
    'CvccCvcvnoCvcv',
    'CvccCvcvCvcvno',
    'CvcvnoCvccCvcv',
    'CvcvCvccnoCvcv',
    'CvcvCvccCvcvno',
    'CvcvnoCvcvCvcc',
    'CvcvCvcvnoCvcc',
    'CvcvCvcvCvccno',
    'CvccnoCvccCvcv',
    'CvccCvccnoCvcv',
    'CvccCvccCvcvno',
    'CvcvnoCvccCvcc',
    'CvcvCvccnoCvcc',
    'CvcvCvccCvccno',
    'CvccnoCvcvCvcc',
    'CvccCvcvnoCvcc',
    'CvccCvcvCvccno',
  ],
  medium: ['CvcnoCvc', 'CvcCvcno'],
  short: ['Cvcn'],
  basic: ['aaanaaan', 'aannaaan', 'aaannaaa'],
  pin: ['nnnn'],
};
const vowels = 'AEIOU';
const consonants = 'BCDFGHJKLMNPQRSTVWXYZ';
const anyLetter = vowels + vowels.toLowerCase() + consonants + consonants.toLowerCase();
const characters: Readonly<Record<string, string>> = {
  V: vowels,
  C: consonants,
  v: vowels.toLowerCase(),
  c: consonants.toLowerCase(),
  A: vowels + consonants,
  a: anyLetter,
  n: '0123456789',
  o: "@&%?,=[]_:-+*$#!'^~;()/.",
  x: `${anyLetter}0123456789!@#$%^&*()`,
};

function derivePassword(counter: bigint, type: string, password: string, user: string, site: string): string {
  const shapes = passwordShapes[type];
  if (!shapes) return `cannot find password template ${type}`;
  const sized = (text: string) => {
    const bytes = textToBytes(text);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([Buffer.from(seed), length, bytes]);
  };
  const key = scryptSync(textToBytes(password), sized(user), 64, { N: 32_768, r: 8, p: 2, maxmem: 128 * 1024 * 1024 });
  const count = Buffer.alloc(4);
  count.writeUInt32BE(Number(BigInt.asUintN(32, counter)));
  const bytes = createHmac('sha256', key)
    .update(Buffer.concat([sized(site), count]))
    .digest();
  const shape = shapes[bytes[0]! % shapes.length]!;
  return Array.from(shape, (element, index) => {
    const choices = characters[element]!;
    return choices[bytes[index + 1]! % choices.length];
  }).join('');
}

function issue(run: Run, request: Omit<CertificateRequest, 'now' | 'serialNumber'>): CertificatePair {
  run.step(slowSteps);
  const { clock, randomBytes } = environmentOf(run);
  return issueCertificate({ ...request, now: clock.now(), serialNumber: randomBytes(16) });
}

function buildCustomCert(cert: string, key: string): CertificatePair {
  const decode = (text: string, what: string) => {
    try {
      return bytesToText(decodeBase64(text));
    } catch (error) {
      throw new Error(`unable to decode base64 ${what}`, { cause: error });
    }
  };
  const certificate = decode(cert, 'certificate');
  const privateKey = decode(key, 'private key');
  readCertificate(certificate);
  readPrivateKey(privateKey);
  return new CertificatePair(certificate, privateKey);
}

const list = '[]interface {}';
const pair = 'struct sprig.certificate';

function signed(
  run: Run,
  names: [string, Value[] | null, Value[] | null],
  days: bigint,
  ca: GoObject,
  key?: string,
): CertificatePair {
  const [commonName, ips, dnsNames] = names;
  return issue(run, {
    commonName,
    ips,
    dnsNames,
    days,
    isAuthority: false,
    key: key === undefined ? keyStock.take() : readPrivateKey(key),
    signer: ca as CertificatePair,
  });
}

export const cryptoFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['bcrypt', inRun(['string'], hashPassword)],
  [
    'htpasswd',
    inRun(['string', 'string'], (run, user, password) =>
      user.includes(':') ? `invalid username: ${user}` : `${user}:${hashPassword(run, password)}`,
    ),
  ],
  [
    'genPrivateKey',
    inRun(['string'], (run, type) => {
      // The key comes from elsewhere, and is as random as all other bytes.
      void environmentOf(run).randomBytes;
      run.step(type === '' || type === 'rsa' || type === 'dsa' ? slowestSteps : 1);
      return newPrivateKey(type);
    }),
  ],
  [
    'derivePassword',
    inRun(['uint32', 'string', 'string', 'string', 'string'], (run, counter, type, password, user, site) => {
      run.step(slowestSteps);
      return derivePassword(counter.value, type, password, user, site);
    }),
  ],
  ['buildCustomCert', fn(['string', 'string'], buildCustomCert)],
  [
    'genCA',
    inRun(['string', 'int'], (run, commonName, days) =>
      issue(run, { commonName, days, isAuthority: true, key: keyStock.take() }),
    ),
  ],
  [
    'genCAWithKey',
    inRun(['string', 'int', 'string'], (run, commonName, days, key) =>
      issue(run, { commonName, days, isAuthority: true, key: readPrivateKey(key) }),
    ),
  ],
  [
    'genSelfSignedCert',
    inRun(['string', list, list, 'int'], (run, commonName, ips, dnsNames, days) =>
      issue(run, { commonName, ips, dnsNames, days, isAuthority: false, key: keyStock.take() }),
    ),
  ],
  [
    'genSelfSignedCertWithKey',
    inRun(['string', list, list, 'int', 'string'], (run, commonName, ips, dnsNames, days, key) =>
      issue(run, { commonName, ips, dnsNames, days, isAuthority: false, key: readPrivateKey(key) }),
    ),
  ],
  [
    'genSignedCert',
    inRun(['string', list, list, 'int', pair], (run, name, ips, dns, days, ca) =>
      signed(run, [name, ips, dns], days, ca),
    ),
  ],
  [
    'genSignedCertWithKey',
    inRun(['string', list, list, 'int', pair, 'string'], (run, name, ips, dns, days, ca, key) =>
      signed(run, [name, ips, dns], days, ca, key),
    ),
  ],
  ['encryptAES', inRun(['string', 'string'], encryptAes)],
  ['decryptAES', fn(['string', 'string'], decryptAes)],
  [
    'randBytes',
    inRun(['int'], (run, count) => {
      if (count < 0n || count > 1_000_000n) throw new Error('runtime error: makeslice: len out of range');
      return Buffer.from(environmentOf(run).randomBytes(Number(count))).toString('base64');
    }),
  ],
]);
