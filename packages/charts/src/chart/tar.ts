import { ChartError } from './chart-error.ts';

export interface TarEntry {
  readonly name: string;
  readonly type: 'file' | 'directory' | 'link';
  readonly data: Uint8Array;
}

const blockSize = 512;
/** No file system takes a longer path. */
const longestName = 4096;
/** Headers of pax and names of GNU are a few hundred bytes; whoever sends more wants them to be looked at. */
const longestHeader = 1024 * 1024;
/** Links, devices, folders: what they say about their size is not followed by data. */
const withoutData = new Set(['1', '2', '3', '4', '5', '6']);

/** Reads a tar: ustar with pax headers and GNU long names. */
export function* readTar(tar: Uint8Array): Generator<TarEntry> {
  let offset = 0;
  let longName: string | undefined;
  let pax = new Map<string, string>();
  while (offset + blockSize <= tar.length) {
    const header = tar.subarray(offset, offset + blockSize);
    if (header.every((byte) => byte === 0)) return;
    checkSum(header);
    const type = String.fromCharCode(header[156]!);
    const size = withoutData.has(type) ? 0 : sizeOf(header, pax.get('size') ?? '');
    const start = offset + blockSize;
    if (!Number.isSafeInteger(size) || size < 0 || start + size > tar.length) throw broken('it ends too early');
    if ((type === 'x' || type === 'L') && size > longestHeader) throw broken(`a header has ${size} bytes`);
    const data = tar.subarray(start, start + size);
    offset = start + Math.ceil(size / blockSize) * blockSize;
    if (type === 'x') pax = paxRecords(data);
    else if (type === 'L') longName = text(data, 0, data.length);
    else if (type !== 'g' && type !== 'K') {
      const prefix = text(header, 257, 5) === 'ustar' && header[262] === 0 ? text(header, 345, 155) : '';
      const short = text(header, 0, 100);
      const name = pax.get('path') ?? longName ?? (prefix === '' ? short : `${prefix}/${short}`);
      if (name.length > longestName) throw broken(`a name has ${name.length} characters`);
      longName = undefined;
      pax = new Map();
      yield { name, type: typeOf(type, name), data };
    }
  }
  if (offset < tar.length) throw broken('it ends too early');
}

function typeOf(flag: string, name: string): TarEntry['type'] {
  if (flag === '5') return 'directory';
  if (flag !== '0' && flag !== '\0' && flag !== '7') return 'link';
  return name.endsWith('/') ? 'directory' : 'file';
}

/** A pax header may say what a header has no room for. */
function sizeOf(header: Uint8Array, pax: string): number {
  if (pax === '') return octal(header, 124, 12);
  return /^\d+$/.test(pax) ? Number(pax) : Number.NaN;
}

function text(bytes: Uint8Array, start: number, length: number): string {
  // Cut first: looking for the end in all that follows would take longer with every record.
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return Buffer.from(end >= 0 ? field.subarray(0, end) : field).toString('utf8');
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
  for (let index = 0; index < header.length; index += 1) sum += index >= 148 && index < 156 ? 0x20 : header[index]!;
  if (sum !== stored) throw broken('a header is damaged');
}

function paxRecords(data: Uint8Array): Map<string, string> {
  const records = new Map<string, string>();
  let offset = 0;
  while (offset < data.length) {
    const space = data.indexOf(0x20, offset);
    const length = space < 0 ? Number.NaN : Number(text(data, offset, space - offset));
    if (!Number.isSafeInteger(length) || length <= space - offset + 1 || offset + length > data.length)
      throw broken('a pax header is damaged');
    const record = Buffer.from(data.subarray(space + 1, offset + length - 1)).toString('utf8');
    const equals = record.indexOf('=');
    if (equals < 1) throw broken('a pax header is damaged');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    offset += length;
  }
  return records;
}

function broken(why: string): ChartError {
  return new ChartError('InvalidChart', `the archive is no tar: ${why}`);
}

/** Writes files as ustar; a name that does not fit gets a pax header. */
export function writeTar(files: readonly { readonly name: string; readonly data: Uint8Array }[]): Buffer {
  const blocks: Uint8Array[] = [];
  for (const { name, data } of files) {
    const encoded = Buffer.from(name);
    if (encoded.length > 100) {
      const record = paxRecord('path', name);
      blocks.push(header('PaxHeader', record.length, 'x'), padded(record));
    }
    blocks.push(header(encoded.subarray(0, 100), data.length, '0'), padded(data));
  }
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]);
}

function header(name: string | Uint8Array, size: number, type: string): Buffer {
  const block = Buffer.alloc(blockSize);
  block.set(Buffer.from(name));
  block.write('0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function padded(data: Uint8Array): Buffer {
  return Buffer.concat([data, Buffer.alloc((blockSize - (data.length % blockSize)) % blockSize)]);
}

/** `length key=value\n`, where the length counts itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
