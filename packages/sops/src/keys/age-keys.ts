import { armor, Decrypter, Encrypter, generateIdentity, type Identity, identityToRecipient } from 'age-encryption';

import type { WrappedKey } from '../metadata.ts';
import { SopsError } from '../sops-error.ts';
import { isSshPrivateKey, readSshPrivateKey } from './ssh-private-key.ts';
import { readSshPublicKey, sshRecipientText } from './ssh-public-key.ts';
import { sshIdentity, sshRecipient } from './ssh-stanzas.ts';

/** A new age key pair: the secret identity and the recipient that goes with it. */
export async function generateAgeKey(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const identity = await generateIdentity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** The recipient of an identity: `AGE-SECRET-KEY-…`, or a private SSH key in PEM. */
export async function recipientOf(identity: string): Promise<string> {
  if (isSshPrivateKey(identity)) return sshRecipientText(readSshPrivateKey(identity, 'the identity').publicKey);
  try {
    return await identityToRecipient(identity);
  } catch {
    // The library's text could quote the key.
    throw new SopsError('config', 'not an age identity', { hint: 'it begins with AGE-SECRET-KEY-1' });
  }
}

/** Wraps the data key once for each recipient. */
export async function wrapDataKey(dataKey: Uint8Array, recipients: readonly string[]): Promise<WrappedKey[]> {
  if (recipients.length === 0) {
    throw new SopsError('config', 'no recipient to encrypt for', {
      hint: 'name one with --age, SOPS_AGE_RECIPIENTS or a creation rule in a .sops.yaml of the current folder or above',
    });
  }
  return await Promise.all(
    [...new Set(recipients)].map(async (recipient) => {
      const encrypter = new Encrypter();
      try {
        encrypter.addRecipient(isSshRecipient(recipient) ? sshRecipient(readSshPublicKey(recipient)) : recipient);
        return { recipient, enc: armor.encode(await encrypter.encrypt(dataKey)) };
      } catch {
        throw notARecipient(recipient);
      }
    }),
  );
}

/** Says what is wrong with a recipient; one that is a secret is not shown. */
function notARecipient(recipient: string): SopsError {
  if (/^age-(secret-key|plugin)-/i.test(recipient)) {
    return new SopsError('config', 'an age identity, which is secret, stands where a recipient is expected', {
      hint: 'give the public key that goes with it, which begins with age1',
    });
  }
  if (isSshPrivateKey(recipient)) {
    return new SopsError('config', 'a private SSH key, which is secret, stands where a recipient is expected', {
      hint: 'give the public key that goes with it, which begins with ssh-',
    });
  }
  if (isSshRecipient(recipient)) {
    return new SopsError('config', `the recipient ${shown(recipient)} is not an SSH key age can encrypt for`, {
      hint: 'it is a whole line of a .pub file of type ssh-ed25519, or of type ssh-rsa with 2048 bits and more',
    });
  }
  if (/^age1[a-z0-9-]+1/.test(recipient)) {
    return new SopsError(
      'unsupported',
      `the recipient '${shown(recipient)}' needs an age plugin, which cannot be used here`,
      {
        hint: 'use an age recipient (slipway sops keygen makes one), or the sops command',
      },
    );
  }
  return new SopsError('config', `'${shown(recipient)}' is not an age recipient`, {
    hint: 'it begins with age1, or with ssh- for an SSH key',
  });
}

export function isSshRecipient(recipient: string): boolean {
  return recipient.startsWith('ssh-');
}

/** Opens the data key with whichever identity fits. */
export async function unwrapDataKey(keys: readonly WrappedKey[], identities: readonly string[]): Promise<Uint8Array> {
  if (keys.length === 0) {
    throw new SopsError('unsupported', 'the file is encrypted for no age recipient', {
      hint: 'only age keys are supported; use the sops command for others',
    });
  }
  if (identities.length === 0) {
    throw new SopsError('no-key', `no age identity to open the file with; it is for ${recipients(keys)}`, {
      hint: whyNone(keys, identities) ?? 'set SOPS_AGE_KEY or SOPS_AGE_KEY_FILE',
    });
  }
  const usable = identities.filter((identity) => !needsPlugin(identity)).map(identityOf);
  for (const { enc } of keys) {
    const dataKey = await open(enc, usable);
    if (dataKey !== undefined) return dataKey;
  }
  throw new SopsError(
    'no-key',
    `none of the ${identities.length} age identities opens the file; it is for ${recipients(keys)}`,
    { hint: whyNone(keys, identities) },
  );
}

function needsPlugin(identity: string): boolean {
  return identity.startsWith('AGE-PLUGIN-');
}

function whyNone(keys: readonly WrappedKey[], identities: readonly string[]): string | undefined {
  if (identities.some(needsPlugin))
    return 'identities of age plugins (AGE-PLUGIN-…) cannot be used here; use the sops command';
  if (keys.some(({ recipient }) => isSshRecipient(recipient))) {
    return 'an SSH key without a passphrase is taken from SOPS_AGE_SSH_PRIVATE_KEY_FILE';
  }
  return undefined;
}

/** Whether an identity can be read; it need not open anything here. */
export function isIdentity(text: string): boolean {
  if (needsPlugin(text)) return true;
  try {
    identityOf(text);
    return true;
  } catch {
    return false;
  }
}

/** What the library takes for an identity. Throws when it cannot be read. */
function identityOf(text: string): string | Identity {
  if (isSshPrivateKey(text)) return sshIdentity(readSshPrivateKey(text, 'the identity'));
  try {
    new Decrypter().addIdentity(text);
    return text;
  } catch {
    // The library's text could quote the key.
    throw new SopsError('config', 'an age identity cannot be read', { hint: 'it begins with AGE-SECRET-KEY-1' });
  }
}

async function open(enc: string, identities: readonly (string | Identity)[]): Promise<Uint8Array | undefined> {
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  try {
    const dataKey = await decrypter.decrypt(armor.decode(enc));
    return dataKey.length === 32 ? dataKey : undefined;
  } catch {
    return undefined;
  }
}

/** Opens what a passphrase closes. */
export async function openWithPassphrase(bytes: Uint8Array, passphrase: string): Promise<string> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  return await decrypter.decrypt(bytes[0] === 0x2d ? armor.decode(Buffer.from(bytes).toString()) : bytes, 'text');
}

function recipients(keys: readonly WrappedKey[]): string {
  const few = keys.slice(0, 20).map(({ recipient }) => shown(recipient));
  return `${few.join(', ')}${keys.length > few.length ? ` and ${keys.length - few.length} more` : ''}`;
}

/** Those of RSA fill a screen, and a hostile file has longer ones. */
function shown(recipient: string): string {
  return recipient.length <= 120 ? recipient : `${recipient.slice(0, 30)}…${recipient.slice(-30)}`;
}
