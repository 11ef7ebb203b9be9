import { ChartError } from './chart-error.ts';

/** Helm's own limits of an archive: no chart comes near, a bomb does. */
export const archiveLimits = { total: 100 * 1024 * 1024, file: 5 * 1024 * 1024, files: 50_000 } as const;

/** What is left for a chart and all the charts in it: an archive of small archives unpacks to any size. */
export interface ChartRoom {
  bytes: number;
  files: number;
}

const mostBytes = 256 * 1024 * 1024;

export function chartRoom(): ChartRoom {
  return { bytes: mostBytes, files: archiveLimits.files };
}

/** Takes what was found; refuses a chart that has no end. */
export function takeRoom(room: ChartRoom, { bytes = 0, files = 0 }: Partial<ChartRoom>): void {
  room.bytes -= bytes;
  room.files -= files;
  if (room.bytes < 0) throw noRoom();
  if (room.files < 0)
    throw new ChartError('UnsafeArchive', `the chart and the charts in it hold more than ${archiveLimits.files} files`);
}

export function noRoom(cause?: unknown): ChartError {
  return new ChartError('UnsafeArchive', `the chart and the charts in it have more than ${mostBytes} bytes`, {
    cause,
    hint: 'leave what is no part of the chart out of it, with .helmignore',
  });
}
