import { createHash, createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

import { objectNames, type Place } from './place.ts';
import { readSecret, type Texts, writeSecret } from './secrets.ts';

const generate = promisify(generateKeyPair);

/**
 * Step 4: the key pair with which the control plane signs tokens of its ServiceAccounts. It is made once: another one would make every
 * token worthless. Answers its fingerprint.
 */
export async function ensureServiceAccountKeys(place: Place): Promise<string> {
  const found = await readSecret(place, objectNames.serviceAccountKeys);
  const publicKey = isPair(found.texts) ? found.texts['service-account.pub']! : await make();
  return createHash('sha256').update(publicKey).digest('hex');

  async function make(): Promise<string> {
    // RSA, because not everybody who checks tokens from outside knows elliptic curves.
    const pair = await generate('rsa', { modulusLength: 2048 });
    const texts = {
      'service-account.key': pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      'service-account.pub': pair.publicKey.export({ type: 'spki', format: 'pem' }) as string,
    };
    await writeSecret(place, objectNames.serviceAccountKeys, found, texts);
    return texts['service-account.pub'];
  }
}

function isPair({ 'service-account.key': privateKey = '', 'service-account.pub': publicKey = '' }: Texts): boolean {
  try {
    return createPublicKey(createPrivateKey(privateKey)).equals(createPublicKey(publicKey));
  } catch {
    return false;
  }
}
