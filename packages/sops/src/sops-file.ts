import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, kubeTime, systemClock } from '@slipway/kube';

import { Cipher } from './cipher.ts';
import { decryptTree, encryptTree } from './crypt-tree.ts';
import { type FormatName, formats } from './formats/format.ts';
import { unwrapDataKey, wrapDataKey } from './keys/age-keys.ts';
import { type Metadata, readMetadata, writeMetadata } from './metadata.ts';
import { type SelectionRule, selectionOf } from './selection.ts';
import { SopsError } from './sops-error.ts';
import type { Documents } from './tree.ts';

/** The release of sops whose format is written. */
const formatVersion = '3.13.3';

export interface EncryptOptions {
  readonly format: FormatName;
  /** Age recipients (`age1…`); each can open the file alone. */
  readonly recipients: readonly string[];
  /** Which values are encrypted. Default: all but those under a key that ends with `_unencrypted`. */
  readonly rule?: SelectionRule;
  /** Whether the MAC covers encrypted values only. Default false. */
  readonly macOnlyEncrypted?: boolean;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

export interface DecryptOptions {
  readonly format: FormatName;
  /** Age identities (`AGE-SECRET-KEY-…`). */
  readonly identities: readonly string[];
}

export interface ChangeOptions extends DecryptOptions {
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

/**
 * Encrypts a plain file.
 *
 * ```ts
 * const { identity, recipient } = await generateAgeKey();
 * const sealed = await encrypt('password: hunter2\n', { format: 'yaml', recipients: [recipient] });
 * const plain = await decrypt(sealed, { format: 'yaml', identities: [identity] });
 * ```
 */
export async function encrypt(plain: Uint8Array | string, options: EncryptOptions): Promise<Buffer> {
  const format = formats[options.format];
  const bytes = Buffer.from(plain);
  const documents = format.readPlain(bytes);
  const carriesBlock =
    options.format === 'dotenv'
      ? documents[0]!.entries.some((entry) => entry.kind === 'item' && entry.key.startsWith('sops_'))
      : documents.some((document) => document.has('sops'));
  if (carriesBlock) {
    throw new SopsError('already-encrypted', 'the file has a top-level sops key: it is encrypted already', {
      hint: 'use edit or rotate, or rename that key',
    });
  }
  const dataKey = new Uint8Array(randomBytes(32));
  return seal(documents, {
    format: options.format,
    cipher: new Cipher(dataKey),
    clock: options.clock ?? systemClock,
    metadata: {
      age: await wrapDataKey(dataKey, options.recipients),
      macOnlyEncrypted: options.macOnlyEncrypted ?? false,
      rule: ruleFor(options),
      version: formatVersion,
      foreign: [],
    },
  });
}

function ruleFor({ format, rule }: EncryptOptions): SelectionRule {
  // A file of bytes has one value; a rule about keys would leave all of it clear.
  if (format === 'binary') return {};
  return rule !== undefined && Object.values(rule).some(Boolean) ? rule : { unencryptedSuffix: '_unencrypted' };
}

/** Decrypts a file and checks its MAC. There is no way around the check. */
export async function decrypt(sealed: Uint8Array | string, options: DecryptOptions): Promise<Buffer> {
  const { documents } = await open(sealed, options);
  return formats[options.format].writePlain(documents);
}

/** Whether the file carries a `sops` block. */
export function isEncrypted(content: Uint8Array | string, format: FormatName): boolean {
  return formats[format].readEncrypted(Buffer.from(content)).block !== undefined;
}

/** For whom the file is encrypted and under which rule; needs no key and proves nothing. */
export function describe(sealed: Uint8Array | string, format: FormatName): Omit<Metadata, 'mac'> {
  return readMetadata(formats[format].readEncrypted(Buffer.from(sealed)).block);
}

/**
 * Replaces the content of an encrypted file. It keeps its data key, recipients and rule; values that did not change keep their bytes, and
 * a file in which nothing changed is returned as it was.
 */
export async function edit(
  sealed: Uint8Array | string,
  plain: Uint8Array | string,
  options: ChangeOptions,
): Promise<Buffer> {
  const opened = await open(sealed, options);
  const format = formats[options.format];
  const documents = format.readPlain(Buffer.from(plain));
  if (format.writePlain(opened.documents).equals(format.writePlain(documents))) return Buffer.from(sealed);
  return seal(documents, { ...opened, format: options.format, clock: options.clock ?? systemClock });
}

/** Encrypts everything anew under a new data key, for the same recipients or for others. */
export async function rotate(
  sealed: Uint8Array | string,
  options: ChangeOptions & { readonly recipients?: readonly string[] },
): Promise<Buffer> {
  const { documents, metadata } = await open(sealed, options);
  if (metadata.foreign.length > 0) {
    const names = metadata.foreign.map(([name]) => name).join(', ');
    throw new SopsError('unsupported', `sops.${names}: a new data key cannot be wrapped for these keys here`, {
      hint: 'use the sops command for this file',
    });
  }
  const dataKey = new Uint8Array(randomBytes(32));
  const recipients = options.recipients ?? metadata.age.map((key) => key.recipient);
  return seal(documents, {
    format: options.format,
    cipher: new Cipher(dataKey),
    clock: options.clock ?? systemClock,
    metadata: { ...metadata, age: await wrapDataKey(dataKey, recipients) },
  });
}

interface Opened {
  readonly documents: Documents;
  readonly metadata: Metadata;
  readonly cipher: Cipher;
}

async function open(sealed: Uint8Array | string, options: DecryptOptions): Promise<Opened> {
  const { documents, block } = formats[options.format].readEncrypted(Buffer.from(sealed));
  const metadata = readMetadata(block);
  const cipher = new Cipher(await unwrapDataKey(metadata.age, options.identities));
  const signed = cipher.decrypt(metadata.mac, metadata.lastModified);
  const { macOnlyEncrypted } = metadata;
  const mac = decryptTree(documents, { cipher, selection: selectionOf(metadata.rule), macOnlyEncrypted });
  const expected = Buffer.from(String(signed));
  if (expected.length !== mac.length || !timingSafeEqual(expected, Buffer.from(mac))) {
    throw new SopsError('tampered', 'the MAC does not fit the content: values were added, removed, moved or changed', {
      hint: 'restore the file from its history; changes go through edit',
    });
  }
  return { documents, metadata, cipher };
}

interface Sealing {
  readonly format: FormatName;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly metadata: Omit<Metadata, 'lastModified' | 'mac'>;
}

function seal(documents: Documents, { format, cipher, clock, metadata }: Sealing): Buffer {
  const { macOnlyEncrypted } = metadata;
  const mac = encryptTree(documents, { cipher, selection: selectionOf(metadata.rule), macOnlyEncrypted });
  const lastModified = kubeTime(clock.now());
  const block = writeMetadata({ ...metadata, lastModified, mac: cipher.encrypt(mac, lastModified) });
  return formats[format].writeEncrypted(documents, block);
}
