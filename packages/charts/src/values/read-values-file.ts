import { open } from 'node:fs/promises';

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
    return bytesToText(await file.readFile());
  } catch (error) {
    if (error instanceof ChartError) throw error;
    throw new ChartError('InvalidValues', `${shown} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

export function tooLarge(shown: string, size: number): ChartError {
  return new ChartError('InvalidValues', `${shown} has ${size} bytes; values have at most ${mostValueBytes}`, {
    hint: 'name the file with the values; large data belongs into files of the chart',
  });
}
