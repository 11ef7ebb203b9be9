import { readFileSync } from 'node:fs';

const headerSize = 32;
const frameHeaderSize = 24;

/**
 * Whether committed changes stand in a write-ahead log behind a place that cannot be read. SQLite takes the first frame with a wrong
 * checksum for the end of the log, without a word. That is right for what a dying process left half written, and wrong when
 * complete commits follow: those were acknowledged.
 */
export function losesCommits(file: string): boolean {
  let log: Buffer;
  try {
    log = readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  if (log.length < headerSize + frameHeaderSize) return false;
  const bigEndian = log.readUInt32BE(0) === 0x377f_0683;
  const sums = checksum(log, 0, 24, [0, 0], bigEndian);
  const isHeaderWhole = (log.readUInt32BE(0) & ~1) === 0x377f_0682 && sameSums(log, 24, sums);
  if (!isHeaderWhole) return true;
  const pageSize = log.readUInt32BE(8);
  const frameSize = frameHeaderSize + pageSize;
  const salt = log.readBigUInt64BE(16);
  let broken = false;
  /** What each frame is summed up from: the sums in the header before it. */
  let before: Sums = sums;
  for (let at = headerSize; at + frameSize <= log.length; at += frameSize) {
    const isOfThisLog = log.readBigUInt64BE(at + 8) === salt;
    const own = checksum(log, at + frameHeaderSize, pageSize, checksum(log, at, 8, before, bigEndian), bigEndian);
    const isWhole = isOfThisLog && sameSums(log, at + 16, own);
    const isCommit = log.readUInt32BE(at + 4) !== 0;
    if (broken && isWhole && isCommit) return true;
    if (!isWhole) broken = true;
    before = [log.readUInt32BE(at + 16), log.readUInt32BE(at + 20)];
  }
  return false;
}

type Sums = readonly [number, number];

function checksum(bytes: Buffer, from: number, length: number, start: Sums, bigEndian: boolean): Sums {
  let [first, second] = start;
  for (let at = from; at < from + length; at += 8) {
    first = (first + (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + second) >>> 0;
    second = (second + (bigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + first) >>> 0;
  }
  return [first, second];
}

function sameSums(bytes: Buffer, at: number, [first, second]: Sums): boolean {
  return bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;
}
