import { open, type FileHandle } from 'node:fs/promises';

import { ChartError } from '../chart/chart-error.ts';
import { bytesToText } from '../go/bytes.ts';

/** Many times the largest file with values anybody wrote; what is larger is a mistake, and would take gigabytes to read. */
export const mostValueBytes = 32 * 1024 * 1024;

/** The text of a file with values. Its size is looked at before it is read. */
export async function readValuesFile(path: string, shown: string): Promise<string> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > mostValueBytes) throw tooLarge(shown, size);
    return bytesToText(await readUpTo(file, shown));
  } catch (error) {
    if (error instanceof ChartError) throw error;
    throw new ChartError('InvalidValues', `${shown} cannot be read: ${(error as Error).message}`, {
      hint: 'look at the path, which begins in the current folder, and at who may read it',
      cause: error,
    });
  }
}

/** A pipe, such as a shell makes for `-f <(…)`, has no size, and a device no end. */
async function readUpTo(file: FileHandle, shown: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null);
    if (bytesRead === 0) return Buffer.concat(chunks, size);
    size += bytesRead;
    if (size > mostValueBytes) throw tooLarge(shown, size);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

const chunkBytes = 256 * 1024;

export function tooLarge(shown: string, size: number): ChartError {
  return new ChartError('InvalidValues', `${shown} has ${size} bytes; values have at most ${mostValueBytes}`, {
    hint: 'name the file with the values; large data belongs into files of the chart',
  });
}
