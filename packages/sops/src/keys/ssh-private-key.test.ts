import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';

import { makeOpenSshKey, type OpenSshKey } from '../../test/openssh-key.ts';
import { SopsError } from '../sops-error.ts';
import { isSshPrivateKey, readSshPrivateKey } from './ssh-private-key.ts';
import { sshRecipientText } from './ssh-public-key.ts';

const recipientIn = (text: string): string => sshRecipientText(readSshPrivateKey(text, 'id').publicKey);
const withoutComment = ({ recipient }: OpenSshKey): string => recipient.split(' ', 2).join(' ');

let ed25519: OpenSshKey;
let rsa: OpenSshKey;
beforeAll(() => {
  ed25519 = makeOpenSshKey('ssh-ed25519');
  rsa = makeOpenSshKey('ssh-rsa');
});

test('a key of OpenSSH is read with its public key, also with line ends of Windows', () => {
  for (const key of [ed25519, rsa]) {
    expect(recipientIn(key.pem)).toBe(withoutComment(key));
    expect(recipientIn(key.pem.replaceAll('\n', '\r\n'))).toBe(withoutComment(key));
  }
});

test('a key in an older form is the same key', () => {
  const object = readSshPrivateKey(rsa.pem, 'id');
  if (object.type !== 'ssh-rsa') return expect.unreachable();
  for (const type of ['pkcs1', 'pkcs8'] as const) {
    expect(recipientIn(object.key.export({ type, format: 'pem' }) as string)).toBe(withoutComment(rsa));
  }
  const { privateKey } = generateKeyPairSync('ed25519');
  expect(recipientIn(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)).toMatch(/^ssh-ed25519 AAAA/);
});

function refusal(text: string): SopsError {
  try {
    readSshPrivateKey(text, 'id');
  } catch (error) {
    if (error instanceof SopsError) return error;
    throw error;
  }
  return expect.unreachable('it was accepted');
}

describe('a private key', () => {
  test.each([
    ['whose two checks differ', () => makeOpenSshKey('ssh-ed25519', { checks: [7, 8] }).pem],
    ['whose padding is not counted up', () => makeOpenSshKey('ssh-ed25519', { padding: [1, 2, 2] }).pem],
    ['with the public key of another', () => makeOpenSshKey('ssh-rsa', { blob: Buffer.alloc(4) }).pem],
    ['that is cut', () => ed25519.pem.replace(/\n.{70}\n/, '\n')],
    ['with a bit that is changed', () => rsa.pem.replace(/(?<=\n.{70}\n.{70}\n.)./, (at) => (at === 'A' ? 'B' : 'A'))],
    ['of nothing', () => '-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----\n'],
    ['in no DER', () => '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n'],
    ['without an end', () => ed25519.pem.slice(0, -30)],
    ['that is a public one', () => ed25519.recipient],
  ])('%s is damaged, which is said without showing it', (_what, text) => {
    const { code, message } = refusal(text());
    expect(code).toBe('config');
    expect(message).toMatch(/^id: (the private SSH key is damaged|not a private SSH key)$/);
  });

  test('behind a passphrase is refused by name, in each form', () => {
    const key = createPrivateKey(
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
    const closed = { cipher: 'aes-256-cbc', passphrase: 'x', format: 'pem' } as const;
    for (const pem of [
      makeOpenSshKey('ssh-ed25519', { cipher: 'aes256-ctr' }).pem,
      key.export({ type: 'pkcs1', ...closed }) as string,
      key.export({ type: 'pkcs8', ...closed }) as string,
    ]) {
      expect(isSshPrivateKey(pem)).toBe(true);
      const { code, message } = refusal(pem);
      expect(code).toBe('unsupported');
      expect(message).toBe('id: the SSH key is behind a passphrase, which cannot be taken off here');
    }
  });

  test('of a type age does not use is refused with it', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { code, message } = refusal(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
    expect(code).toBe('unsupported');
    expect(message).toBe('id: an SSH key of type EC cannot decrypt');
  });
});
