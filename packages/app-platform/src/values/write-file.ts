import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** What a file is called while it is written. Git never sees it: see {@link temporaryPattern}. */
const temporarySuffix = '.slipway-tmp';
export const temporaryPattern = `.*${temporarySuffix}`;

/**
 * Writes a file as a whole or not at all. A process that dies, or a disk that is full, in the middle of writing would leave half a file:
 * valid YAML with half of its settings, which the next commit would bring to everybody.
 */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}${temporarySuffix}`);
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(temporary, content);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
