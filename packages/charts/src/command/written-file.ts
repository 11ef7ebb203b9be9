import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from '@slipway/kube/command';

export interface WriteOptions {
  /** Behind what the file holds already. */
  readonly append?: boolean;
  /** Of a file that is made. */
  readonly mode?: number;
}

/** Writes a file, and makes the folders above it. */
export async function writeBelow(
  file: string,
  data: Uint8Array,
  { append = false, mode }: WriteOptions = {},
): Promise<void> {
  try {
    if (!append) await mkdir(dirname(file), { recursive: true });
    await (append ? appendFile : writeFile)(file, data, { mode });
  } catch (cause) {
    throw new CommandError(`cannot write ${file}: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}
