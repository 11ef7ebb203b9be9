import { ChartError } from './chart-error.ts';

export interface TarEntry {
  readonly name: string;
  readonly type: 'file' | 'directory' | 'link';
  readonly data: Uint8Array;
}

const blockSize = 512;

/** Reads a tar: ustar with pax headers and GNU long names. */
export function* readTar(tar: Uint8Array): Generator<TarEntry> {
  let offset = 0;
  let longName: string | undefined;
  let pax = new Map<string, string>();
  while (offset + blockSize <= tar.length) {
    const header = tar.subarray(offset, offset + blockSize);
    if (header.every((byte) => byte === 0)) return;
    checkSum(header);
    const size = Number(pax.get('size') ?? octal(header, 124, 12));
    const start = offset + blockSize;
    if (!Number.isSafeInteger(size) || size < 0 || start + size > tar.length) throw broken('it ends too early');
    const data = tar.subarray(start, start + size);
    offset = start + Math.ceil(size / blockSize) * blockSize;
    const type = String.fromCharCode(header[156]!);
    if (type === 'x') pax = paxRecords(data);
    else if (type === 'L') longName = text(data, 0, data.length);
    else if (type !== 'g' && type !== 'K') {
      const prefix = text(header, 257, 5) === 'ustar' && header[262] === 0 ? text(header, 345, 155) : '';
      const short = text(header, 0, 100);
      const name = pax.get('path') ?? longName ?? (prefix === '' ? short : `${prefix}/${short}`);
      longName = undefined;
      pax = new Map();
      yield { name, type: typeOf(type, name), data };
    }
  }
}

function typeOf(flag: string, name: string): TarEntry['type'] {
  if (flag === '5' || name.endsWith('/')) return 'directory';
  return flag === '0' || flag === '\0' || flag === '7' ? 'file' : 'link';
}

function text(bytes: Uint8Array, start: number, length: number): string {
  const end = bytes.indexOf(0, start);
  return Buffer.from(bytes.subarray(start, end >= 0 && end < start + length ? end : start + length)).toString('utf8');
}

function octal(bytes: Uint8Array, start: number, length: number): number {
  // GNU writes sizes that octal cannot hold in binary.
  if (bytes[start]! & 0x80)
    return Number(bytes.subarray(start + 1, start + length).reduce((sum, byte) => sum * 256 + byte, 0));
  return Number.parseInt(text(bytes, start, length).trim() || '0', 8);
}

function checkSum(header: Uint8Array): void {
  const stored = octal(header, 148, 8);
  let sum = 0;
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  if (sum !== stored) throw broken('a header is damaged');
}

function paxRecords(data: Uint8Array): Map<string, string> {
  const records = new Map<string, string>();
  let offset = 0;
  while (offset < data.length) {
    const space = data.indexOf(0x20, offset);
    const length = space < 0 ? Number.NaN : Number(text(data, offset, space - offset));
    if (!Number.isSafeInteger(length) || length <= space - offset + 1) throw broken('a pax header is damaged');
    const record = Buffer.from(data.subarray(space + 1, offset + length - 1)).toString('utf8');
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    offset += length;
  }
  return records;
}

function broken(why: string): ChartError {
  return new ChartError('InvalidChart', `the archive is no tar: ${why}`);
}
