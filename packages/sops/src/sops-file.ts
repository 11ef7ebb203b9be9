import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, kubeTime, systemClock } from '@slipway/kube';

import { Cipher } from './cipher.ts';
import { decryptTree, encryptTree } from './crypt-tree.ts';
import { type FormatName, formats } from './formats/format.ts';
import { readJsonValue } from './formats/json-reader.ts';
import { unwrapDataKey, wrapDataKey } from './keys/age-keys.ts';
import { defaultSuffix, type Metadata, readMetadata, writeMetadata } from './metadata.ts';
import { type SelectionRule, selectionOf } from './selection.ts';
import { SopsError } from './sops-error.ts';
import { setValueAt, type TreePath, unsetValueAt, valueAt } from './tree-path.ts';
import { type Documents, Mapping, type Value } from './tree.ts';

/** The release of sops whose format is written. */
const formatVersion = '3.13.3';

/** How what is written looks. */
export interface LayoutOptions {
  /** Blanks for each level, as `stores` of `.sops.yaml` names them. Default: four in YAML, a tab in JSON. */
  readonly indent?: number;
}

/** For whom a file is encrypted, and how. */
export interface EncryptOptions extends LayoutOptions {
  readonly format: FormatName;
  /** Format of the result. Default: that of the plain file. */
  readonly outputFormat?: FormatName;
  /** Age recipients (`age1…`) and public SSH keys (`ssh-ed25519 …`, `ssh-rsa …`); each can open the file alone. */
  readonly recipients: readonly string[];
  /** Which values are encrypted. Default: all but those under a key that ends with `_unencrypted`. */
  readonly rule?: SelectionRule;
  /** Whether the MAC covers encrypted values only. Default false. */
  readonly macOnlyEncrypted?: boolean;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

/** Who opens a file. */
export interface DecryptOptions extends LayoutOptions {
  readonly format: FormatName;
  /** Age identities (`AGE-SECRET-KEY-…`) and private SSH keys in PEM. */
  readonly identities: readonly string[];
}

/** Who opens a file, and what of it is wanted. */
export interface OutputOptions extends DecryptOptions {
  /** Format of the result. Default: that of the file. */
  readonly outputFormat?: FormatName;
  /** Only the value at this path, such as `['users', 0, 'name']`; a string comes as it is, without quotes or a line end. */
  readonly extract?: TreePath;
}

/** Who changes a file. */
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
  const documents = readPlain(Buffer.from(plain), options.format);
  if (documents.length === 0) throw new SopsError('input', 'the file is empty', { hint: 'give it a key' });
  const dataKey = new Uint8Array(randomBytes(32));
  const format = options.outputFormat ?? options.format;
  return seal(fitting(documents, format), {
    format,
    cipher: new Cipher(dataKey),
    indent: options.indent,
    clock: options.clock ?? systemClock,
    metadata: {
      age: await wrapDataKey(dataKey, options.recipients),
      // The one value of a file of bytes is always encrypted.
      macOnlyEncrypted: options.format !== 'binary' && (options.macOnlyEncrypted ?? false),
      rule: ruleFor(options),
      version: formatVersion,
      foreign: [],
    },
  });
}

function readPlain(bytes: Buffer, name: FormatName): Documents {
  const documents = formats[name].readPlain(bytes);
  if (documents.length === 0 && bytes.length > 0) {
    throw new SopsError('input', 'the file holds comments only', { hint: 'give it a key' });
  }
  const carriesBlock =
    name === 'dotenv'
      ? documents[0]!.entries.some((entry) => entry.kind === 'item' && entry.key.startsWith('sops_'))
      : documents.some((document) => document.has('sops'));
  if (!carriesBlock) return documents;
  throw new SopsError('already-encrypted', 'the file has a top-level sops key: it is encrypted already', {
    hint: 'use edit or rotate, or rename that key',
  });
}

function ruleFor({ format, rule }: EncryptOptions): SelectionRule {
  // A file of bytes has one value; a rule about keys would leave all of it clear.
  if (format === 'binary') return {};
  return rule !== undefined && Object.values(rule).some(Boolean) ? rule : { unencryptedSuffix: defaultSuffix };
}

/** Decrypts a file and checks its MAC. There is no way around the check. */
export async function decrypt(sealed: Uint8Array | string, options: OutputOptions): Promise<Buffer> {
  const { documents } = await open(sealed, options);
  const name = options.outputFormat ?? options.format;
  if (options.extract === undefined) return formats[name].writePlain(fitting(documents, name), options.indent);
  const value = valueAt(documents[0]!, options.extract);
  if (value instanceof Mapping) return formats[name].writePlain([value], options.indent);
  if (typeof value === 'string') return Buffer.from(value);
  if (value instanceof Uint8Array) return Buffer.from(value);
  return formats[name].writeValue(value);
}

/** Only YAML has several documents in a file; none is left out silently. */
function fitting(documents: Documents, name: FormatName): Documents {
  if (name === 'yaml' || documents.length <= 1) return documents;
  throw new SopsError('input', `the file holds ${documents.length} documents, which ${name} cannot`, {
    hint: 'keep it in YAML, or split it first',
  });
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
  if (format.writePlain(opened.documents, options.indent).equals(Buffer.from(plain))) return Buffer.from(sealed);
  const documents = readPlain(Buffer.from(plain), options.format);
  if (documents.length === 0)
    throw new SopsError('input', 'nothing is left to encrypt', { hint: 'remove the file instead' });
  if (format.writePlain(opened.documents).equals(format.writePlain(documents))) return Buffer.from(sealed);
  return seal(documents, { ...opened, ...sealing(options) });
}

/**
 * Puts a value, written in JSON, at a path of the first document. Maps on the way are made, and a list grows at its end; what does not
 * change keeps its bytes.
 */
export async function setValue(
  sealed: Uint8Array | string,
  path: TreePath,
  json: string,
  options: ChangeOptions,
): Promise<Buffer> {
  return await change(sealed, options, (document) => setValueAt(document, path, givenValue(json)));
}

function givenValue(json: string): Value {
  try {
    return readJsonValue(json);
  } catch (cause) {
    if (!(cause instanceof SopsError)) throw cause;
    throw new SopsError('config', `the value: ${cause.message}`, {
      hint: cause.hint || `a text takes double quotes: '"text"'`,
      cause,
    });
  }
}

/** Takes the value at a path out of the first document; what is left keeps its bytes. Fails with `not-found` when there is none. */
export async function unsetValue(sealed: Uint8Array | string, path: TreePath, options: ChangeOptions): Promise<Buffer> {
  return await change(sealed, options, (document) => unsetValueAt(document, path));
}

async function change(
  sealed: Uint8Array | string,
  options: ChangeOptions,
  apply: (document: Mapping) => void,
): Promise<Buffer> {
  const opened = await open(sealed, options);
  const format = formats[options.format];
  const before = format.writePlain(opened.documents);
  apply(opened.documents[0]!);
  const plain = format.writePlain(opened.documents);
  if (plain.equals(before)) return Buffer.from(sealed);
  readPlain(plain, options.format);
  return seal(opened.documents, { ...opened, ...sealing(options) });
}

/**
 * Gives the data key to these recipients and to nobody else; values, MAC and time stay as they are. Who could open the file before
 * may still know the data key: `rotate` makes a new one.
 */
export async function updateKeys(
  sealed: Uint8Array | string,
  options: DecryptOptions & { readonly recipients: readonly string[] },
): Promise<Buffer> {
  const { metadata, dataKey } = await open(sealed, options);
  refuseForeign(metadata);
  const recipients = [...new Set(options.recipients)];
  const present = metadata.age.filter(({ recipient }) => recipients.includes(recipient));
  const missing = recipients.filter((recipient) => !present.some((key) => key.recipient === recipient));
  if (missing.length === 0 && present.length === metadata.age.length && present.length > 0) return Buffer.from(sealed);
  const wrapped = [
    ...present,
    ...(missing.length > 0 || recipients.length === 0 ? await wrapDataKey(dataKey, missing) : []),
  ];
  const age = recipients.flatMap((name) => wrapped.filter(({ recipient }) => recipient === name));
  const format = formats[options.format];
  const { documents } = format.readEncrypted(Buffer.from(sealed));
  return format.writeEncrypted(documents, writeMetadata({ ...metadata, age }), options.indent);
}

/** Encrypts everything anew under a new data key, for the same recipients or for others. */
export async function rotate(
  sealed: Uint8Array | string,
  options: ChangeOptions & { readonly recipients?: readonly string[] },
): Promise<Buffer> {
  const { documents, metadata } = await open(sealed, options);
  refuseForeign(metadata);
  const dataKey = new Uint8Array(randomBytes(32));
  const recipients = options.recipients ?? metadata.age.map((key) => key.recipient);
  return seal(documents, {
    ...sealing(options),
    cipher: new Cipher(dataKey),
    metadata: { ...metadata, age: await wrapDataKey(dataKey, recipients) },
  });
}

function refuseForeign({ foreign }: Metadata): void {
  if (foreign.length === 0) return;
  const names = foreign.map(([name]) => name).join(', ');
  throw new SopsError('unsupported', `sops.${names}: a data key cannot be wrapped for these keys here`, {
    hint: 'use the sops command for this file',
  });
}

interface Opened {
  readonly dataKey: Uint8Array;
  readonly documents: Documents;
  readonly metadata: Metadata;
  readonly cipher: Cipher;
}

async function open(sealed: Uint8Array | string, options: DecryptOptions): Promise<Opened> {
  const { documents, block } = formats[options.format].readEncrypted(Buffer.from(sealed));
  const metadata = readMetadata(block);
  const dataKey = await unwrapDataKey(metadata.age, options.identities);
  const cipher = new Cipher(dataKey);
  const signed = cipher.decrypt(metadata.mac, metadata.lastModified);
  const { macOnlyEncrypted } = metadata;
  const mac = decryptTree(documents, { cipher, selection: selectionOf(metadata.rule), macOnlyEncrypted });
  const expected = Buffer.from(String(signed));
  if (expected.length !== mac.length || !timingSafeEqual(expected, Buffer.from(mac))) {
    throw new SopsError('tampered', 'the MAC does not fit the content: values were added, removed, moved or changed', {
      hint: 'restore the file from its history; changes go through edit',
    });
  }
  return { documents, metadata, cipher, dataKey };
}

interface Sealing extends LayoutOptions {
  readonly format: FormatName;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly metadata: Omit<Metadata, 'lastModified' | 'mac'>;
}

function sealing({ format, indent, clock = systemClock }: ChangeOptions): Pick<Sealing, 'format' | 'indent' | 'clock'> {
  return { format, indent, clock };
}

function seal(documents: Documents, { format, indent, cipher, clock, metadata }: Sealing): Buffer {
  const { macOnlyEncrypted } = metadata;
  const mac = encryptTree(documents, { cipher, selection: selectionOf(metadata.rule), macOnlyEncrypted });
  const lastModified = kubeTime(clock.now());
  const block = writeMetadata({ ...metadata, lastModified, mac: cipher.encrypt(mac, lastModified) });
  return formats[format].writeEncrypted(documents, block, indent);
}
