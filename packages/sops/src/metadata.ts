import type { SelectionRule } from './selection.ts';
import { ruleFields } from './selection.ts';
import { SopsError } from './sops-error.ts';
import { Mapping, Sequence, Timestamp, type Value } from './tree.ts';

/** The data key, wrapped for one age recipient. */
export interface WrappedKey {
  readonly recipient: string;
  /** An armored age file. */
  readonly enc: string;
}

/** The `sops` block of a file. */
export interface Metadata {
  readonly age: readonly WrappedKey[];
  /** RFC 3339, UTC, whole seconds. */
  readonly lastModified: string;
  /** Encrypted. */
  readonly mac: string;
  readonly macOnlyEncrypted: boolean;
  readonly rule: SelectionRule;
  readonly version: string;
  /** Keys of other services (KMS, PGP, …) that wrap the same data key. They are kept as they are. */
  readonly foreign: readonly (readonly [string, Value])[];
}

/** Values under keys that end so stay clear where nothing else is said. */
export const defaultSuffix = '_unencrypted';

const restore = 'the sops block was cut or changed; restore the file from its history';

const foreignKeys = ['azure_kv', 'gcp_kms', 'hc_vault', 'hckms', 'kms', 'pgp'];

/** Reads the `sops` block. */
export function readMetadata(block: Value | undefined): Metadata {
  if (!(block instanceof Mapping)) {
    throw new SopsError('not-encrypted', 'the file has no sops block: it is not encrypted', {
      hint: 'encrypt it first, or check that this is the right file',
    });
  }
  if (!isAbsent(block.get('key_groups'))) {
    throw new SopsError(
      'unsupported',
      'sops.key_groups: a data key split over several groups (Shamir) cannot be opened here',
      {
        hint: 'use the sops command for this file',
      },
    );
  }
  const rule: Record<string, string> = {};
  for (const [field, name] of Object.entries(ruleFields)) {
    const text = optionalText(block, name);
    if (text !== undefined && text !== '') rule[field] = text;
  }
  // A file that names no rule has this one, as with sops.
  if (Object.keys(rule).length === 0) rule['unencryptedSuffix'] = defaultSuffix;
  return {
    age: wrappedKeys(block.get('age')),
    lastModified: time(block, 'lastmodified'),
    mac: requiredText(block, 'mac'),
    macOnlyEncrypted: flag(block, 'mac_only_encrypted'),
    rule,
    version: optionalText(block, 'version') ?? '',
    foreign: foreignKeys.flatMap((key) => {
      const value = block.get(key);
      return isAbsent(value) ? [] : [[key, value!] as const];
    }),
  };
}

/** The `sops` block of a file, its keys in the order sops has had since 3.13. */
export function writeMetadata(metadata: Metadata): Mapping {
  const fields = new Map<string, Value>(metadata.foreign);
  if (metadata.age.length > 0) {
    const keys = new Sequence();
    for (const { recipient, enc } of metadata.age) {
      keys.elements.push({ kind: 'element', value: new Mapping().set('enc', enc).set('recipient', recipient) });
    }
    fields.set('age', keys);
  }
  fields.set('lastmodified', metadata.lastModified).set('mac', metadata.mac).set('version', metadata.version);
  if (metadata.macOnlyEncrypted) fields.set('mac_only_encrypted', true);
  for (const [field, name] of Object.entries(ruleFields)) {
    const text = metadata.rule[field as keyof SelectionRule];
    if (text) fields.set(name, text);
  }
  const block = new Mapping();
  for (const [name, value] of [...fields].sort(([a], [b]) => (a < b ? -1 : 1))) block.set(name, value);
  return block;
}

function wrappedKeys(value: Value | undefined): WrappedKey[] {
  if (value === undefined || value === null) return [];
  if (!(value instanceof Sequence)) throw new SopsError('metadata', 'sops.age: expected a list', { hint: restore });
  return value.elements
    .filter((element) => element.kind === 'element')
    .map(({ value: key }, index) => {
      if (!(key instanceof Mapping))
        throw new SopsError('metadata', `sops.age[${index}]: expected a map`, { hint: restore });
      const place = `age[${index}].`;
      return { recipient: requiredText(key, 'recipient', place), enc: requiredText(key, 'enc', place) };
    });
}

function optionalText(block: Mapping, key: string, place = ''): string | undefined {
  const value = block.get(key);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  // Without quotes, which sops does not mind.
  if (value instanceof Timestamp) return value.text;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  throw new SopsError('metadata', `sops.${place}${key}: expected a string`, { hint: restore });
}

function requiredText(block: Mapping, key: string, place = ''): string {
  const text = optionalText(block, key, place);
  if (text === undefined || text === '') {
    throw new SopsError('metadata', `sops.${place}${key}: missing`, { hint: restore });
  }
  return text;
}

function time(block: Mapping, key: string): string {
  const text = requiredText(block, key);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[-+]\d\d:\d\d)$/.test(text)) return text;
  throw new SopsError('metadata', `sops.${key}: expected a time such as 2026-11-15T07:00:00Z`, { hint: restore });
}

/** Old files carry empty lists. */
function isAbsent(value: Value | undefined): boolean {
  return value === undefined || value === null || (value instanceof Sequence && value.elements.length === 0);
}

function flag(block: Mapping, key: string): boolean {
  const value = block.get(key) ?? false;
  if (typeof value === 'boolean') return value;
  // A dotenv file holds only strings.
  if (value === 'true' || value === 'false') return value === 'true';
  throw new SopsError('metadata', `sops.${key}: expected true or false`, { hint: restore });
}
