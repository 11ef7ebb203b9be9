import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

import { ChartError } from './chart-error.ts';

/**
 * The bytes of a file, and of nothing else: a pipe would keep whoever reads it waiting, a device has no end. A file that grows
 * meanwhile is read as far as it went at first.
 */
export function readRegularFile(path: string, shown: string, most: number): Buffer {
  // Opening a pipe waits for somebody who writes, unless it is told not to. Windows has neither.
  const file = reading(shown, () => openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)));
  try {
    const info = fstatSync(file);
    if (!info.isFile()) throw new ChartError('InvalidChart', `${shown} is no regular file`);
    if (info.size > most) throw new ChartError('UnsafeArchive', `${shown} has more than ${most} bytes`);
    const data = Buffer.allocUnsafe(info.size);
    let length = 0;
    while (length < data.length) {
      const read = reading(shown, () => readSync(file, data, length, data.length - length, null));
      if (read === 0) break;
      length += read;
    }
    return data.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** Says which part of a chart the system refused. */
export function reading<T>(shown: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ChartError('InvalidChart', `cannot read ${shown}: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}
