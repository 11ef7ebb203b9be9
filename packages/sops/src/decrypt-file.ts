import { readFile } from 'node:fs/promises';

import { type FormatName, formatOfPath } from './formats/format.ts';
import { findAgeIdentities, type KeyLookupOptions } from './keys/key-lookup.ts';
import { SopsError } from './sops-error.ts';
import { decrypt, describe, type OutputOptions } from './sops-file.ts';

/** Which keys to look for, and what of the file is wanted. */
export interface DecryptFileOptions
  extends Omit<KeyLookupOptions, 'recipients'>, Pick<OutputOptions, 'outputFormat' | 'extract'> {
  /** Default: that of the path. */
  readonly format?: FormatName;
  /** Default: every one this user has, found as sops finds them. */
  readonly identities?: readonly string[];
}

/**
 * Decrypts a file of this machine with the keys of this user, and checks its MAC.
 *
 * ```ts
 * const plain = await decryptFile('env/secrets.yaml');
 * ```
 */
export async function decryptFile(path: string, options: DecryptFileOptions = {}): Promise<Buffer> {
  const { format = formatOfPath(path).name, outputFormat, extract } = options;
  const sealed = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new SopsError('input', `cannot read ${path} (${cause.code})`, { cause });
  });
  const recipients = describe(sealed, format).age.map(({ recipient }) => recipient);
  const identities = options.identities ?? (await findAgeIdentities({ ...options, recipients }));
  return await decrypt(sealed, { format, identities, outputFormat, extract });
}
