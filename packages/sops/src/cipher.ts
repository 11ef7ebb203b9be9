import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isUtf8 } from 'node:buffer';

import { leafBytes } from './leaf-bytes.ts';
import { SopsError } from './sops-error.ts';
import { type Leaf, Timestamp } from './tree.ts';

// No part can hold what ends it, so a hostile value takes no longer to read than another.
const form = /^ENC\[AES256_GCM,data:([^,]+),iv:([^,]+),tag:([^,]+),type:(.+)\]/;
const ivLength = 32;
const tagLength = 16;

/** A comment that was opened, told from a string that says the same. */
export class OpenedComment {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Encrypts and decrypts single values under one data key. */
export class Cipher {
  readonly #key: Uint8Array;
  /** By place and content. Equal values of one place, as lists have them, take theirs in the order they were opened. */
  readonly #stash = new Map<string, { readonly ivs: Buffer[]; taken: number }>();
  readonly #randomBytes: (size: number) => Uint8Array;

  constructor(key: Uint8Array, options: { readonly randomBytes?: (size: number) => Uint8Array } = {}) {
    this.#key = key;
    this.#randomBytes = options.randomBytes ?? randomBytes;
  }

  /** `additionalData` binds the value to its place. A value opened by this cipher before gets the bytes it had. */
  encrypt(plain: Exclude<Leaf, null> | OpenedComment, additionalData: string): string {
    const comment = plain instanceof OpenedComment;
    const bytes = comment ? Buffer.from(plain.text) : leafBytes(plain);
    const type = comment ? 'comment' : typeOf(plain);
    if (bytes.length === 0 && (type === 'str' || type === 'comment')) return '';
    const iv = this.#stashed(stashKey(type, bytes, additionalData)) ?? this.#randomBytes(ivLength);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(additionalData));
    const data = Buffer.concat([cipher.update(bytes), cipher.final()]);
    const parts = [data, iv, cipher.getAuthTag()].map((part) => Buffer.from(part).toString('base64'));
    return `ENC[AES256_GCM,data:${parts[0]},iv:${parts[1]},tag:${parts[2]},type:${type}]`;
  }

  /** Throws `tampered` when the text is no encrypted value, or not one of this place and key. */
  decrypt(text: string, additionalData: string): Exclude<Leaf, null> | OpenedComment {
    if (text === '') return '';
    const match = form.exec(text);
    const where = additionalData.replace(/:$/, '') || 'the top level';
    if (match === null) {
      throw new SopsError('tampered', `${where}: expected an encrypted value (ENC[AES256_GCM,…])`, {
        hint: 'a value was replaced by hand; restore the file from its history',
      });
    }
    const [data, iv, tag] = match.slice(1, 4).map((part) => bytesOf(part, where)) as [Buffer, Buffer, Buffer];
    const type = match[4]!;
    const bytes = this.#open(data, iv, tag, additionalData, where);
    const key = stashKey(type, bytes, additionalData);
    const stashed = this.#stash.get(key);
    if (stashed === undefined) this.#stash.set(key, { ivs: [iv], taken: 0 });
    else stashed.ivs.push(iv);
    return plainOf(type, bytes, where);
  }

  #stashed(key: string): Buffer | undefined {
    const stashed = this.#stash.get(key);
    return stashed?.ivs[stashed.taken++];
  }

  #open(data: Buffer, iv: Buffer, tag: Buffer, additionalData: string, where: string): Buffer {
    // A shorter tag would let a forger guess; Node takes 4 bytes and more.
    if (tag.length !== tagLength || iv.length === 0) throw tampered(where);
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagLength })
        .setAAD(Buffer.from(additionalData))
        .setAuthTag(tag);
      return Buffer.concat([decipher.update(data), decipher.final()]);
    } catch (cause) {
      throw tampered(where, cause);
    }
  }
}

/** Node reads past what is no base64. */
function bytesOf(text: string, where: string): Buffer {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw tampered(where);
  return Buffer.from(text, 'base64');
}

function tampered(where: string, cause?: unknown): SopsError {
  return new SopsError('tampered', `${where}: the value does not belong to this place, or was changed`, {
    hint: 'a value was edited, moved or cut by hand; restore the file from its history',
    cause,
  });
}

function stashKey(type: string, bytes: Buffer, additionalData: string): string {
  return `${type}\0${additionalData}\0${bytes.toString('base64')}`;
}

function typeOf(leaf: Exclude<Leaf, null>): string {
  if (typeof leaf === 'bigint') return 'int';
  if (typeof leaf === 'number') return 'float';
  if (typeof leaf === 'boolean') return 'bool';
  return leaf instanceof Timestamp ? 'time' : 'str';
}

function plainOf(type: string, bytes: Buffer, where: string): Exclude<Leaf, null> | OpenedComment {
  const text = bytes.toString('utf8');
  switch (type) {
    case 'str':
    case 'bytes':
      return isUtf8(bytes) ? text : new Uint8Array(bytes);
    case 'int':
      if (/^[+-]?\d+$/.test(text)) return BigInt(text);
      break;
    case 'float':
      return floatOf(text);
    case 'bool':
      if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
      if (/^(0|f|F|FALSE|false|False)$/.test(text)) return false;
      break;
    case 'time':
      return new Timestamp(text);
    case 'comment':
      return new OpenedComment(text);
  }
  throw new SopsError('metadata', `${where}: a value of type ${type} cannot be read`, {
    hint: 'it was written by a SOPS this version does not know',
  });
}

function floatOf(text: string): number {
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return Number(text);
}
