import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';

/**
 * In one step: whoever reads meanwhile sees the old file or the new one. The new one is made under a name nobody can know
 * before, and only where nothing is: a link that waits there would lead the writing elsewhere. A link that has the file's own
 * name is replaced, not followed.
 */
export async function replaceFile(file: string, data: Uint8Array, mode?: number): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, data, { flag: 'wx', ...(mode === undefined ? {} : { mode }) });
    await rename(temporary, file);
  } catch (error) {
    // Whatever is there under that name when it could not be made is not ours.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
