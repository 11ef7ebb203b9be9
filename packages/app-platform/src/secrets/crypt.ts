import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { creationRuleFor, decrypt, edit, encrypt, isEncrypted, SopsError } from '@slipway/sops';
import type { Clock } from '@slipway/kube';

import { foldersBelow, isHidden, pathOf } from '../values/folders.ts';
import { decryptedSuffix, encryptedOf, isDecrypted, secretPrefix } from '../values/kinds.ts';
import { ValuesError } from '../values/values-error.ts';
import { writeWhole } from '../values/write-file.ts';
import type { OpenedSecrets } from './opened-secrets.ts';

export interface CryptOptions {
  readonly directory: string;
  readonly keys: ReadonlySet<string>;
  readonly clock: Clock;
  /** What is known of the files from before. */
  readonly opened?: OpenedSecrets;
}

/** Whether the repository says how its secrets are encrypted. Without that they stay as they are. */
export function usesSops(directory: string): boolean {
  return readText(join(directory, '.sops.yaml')) !== undefined;
}

/**
 * Brings every secret file to what its decrypted twin says. Values that did not change keep their bytes, so that a cycle in which
 * nothing changed makes no commit.
 */
export async function encryptSecrets({ directory, keys, clock, opened }: CryptOptions): Promise<void> {
  if (!usesSops(directory)) return;
  for (const path of secretFiles(directory)) {
    const present = readText(path)!;
    const plain = readText(path + decryptedSuffix);
    if (plain !== undefined && opened?.of(present, keys) === plain) continue;
    await inFile(directory, path, 'a secret file cannot be encrypted', async () => {
      if (isEncrypted(present, 'yaml')) {
        if (plain === undefined) return;
        const sealed = await edit(present, plain, { format: 'yaml', identities: [...keys], clock });
        if (sealed.toString('utf8') !== present) await writeWhole(path, sealed);
        return;
      }
      const clear = plain ?? present;
      if (clear === '') return;
      const rule = await creationRuleFor(path, join(directory, '.sops.yaml'));
      const sealed = await encrypt(clear, {
        format: 'yaml',
        recipients: rule?.recipients ?? [],
        ...(rule ? { rule: rule.rule, macOnlyEncrypted: rule.macOnlyEncrypted } : {}),
        clock,
      });
      // The twin first: a crash in between leaves the file in clear, which the next run encrypts; nothing is committed before.
      await writeWhole(path + decryptedSuffix, clear);
      await writeWhole(path, sealed);
    });
  }
}

/** Puts a decrypted twin beside every encrypted file, and removes twins of files that are gone. */
export async function decryptSecrets(options: Omit<CryptOptions, 'clock'>): Promise<void> {
  const { directory, keys, opened } = options;
  if (!usesSops(directory)) return;
  for (const path of secretFiles(directory)) {
    const present = readText(path)!;
    let text = opened?.of(present, keys);
    if (text === undefined) {
      text = await inFile(directory, path, 'a secret file cannot be decrypted', async () => {
        if (!isEncrypted(present, 'yaml')) return undefined;
        return (await decrypt(present, { format: 'yaml', identities: [...keys] })).toString('utf8');
      });
      if (text === undefined) continue;
      opened?.remember(present, keys, text);
    }
    const twin = path + decryptedSuffix;
    if (readText(twin) !== text) await writeWhole(twin, text);
  }
  opened?.forgetOthers();
  for (const twin of filesBelow(join(directory, 'env'), isDecrypted)) {
    if (!existsSync(encryptedOf(twin))) await rm(twin);
  }
}

/** An error names the file it is about. */
async function inFile<T>(directory: string, path: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SopsError)) throw error;
    const file = path.slice(directory.length + 1);
    throw new ValuesError('Encrypted', what, [{ file, path: '', message: error.message }], error);
  }
}

/** Secret files that are not encrypted although they should be. */
export async function secretsInClear(directory: string): Promise<string[]> {
  if (!usesSops(directory)) return [];
  const clear: string[] = [];
  for (const path of secretFiles(directory)) {
    const text = readText(path)!;
    if (text !== '' && !isEncrypted(text, 'yaml')) clear.push(path.slice(directory.length + 1));
  }
  return clear;
}

function secretFiles(directory: string): string[] {
  return filesBelow(join(directory, 'env'), (name) => name.startsWith(secretPrefix) && name.endsWith('.yaml'));
}

function filesBelow(root: string, wanted: (name: string) => boolean): string[] {
  return [...foldersBelow(root, (path) => !isHidden(path))].flatMap(([folder, { files }]) =>
    files.filter(wanted).map((name) => join(root, pathOf(folder, name))),
  );
}

/** Small files, and all of them with every apply: see `foldersBelow` for why nobody waits. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    // Only what is not there is none: a file that cannot be read must not count as one less to encrypt.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
