import { isUtf8 } from 'node:buffer';

import { SopsError } from '../sops-error.ts';

/** The text of a file: UTF-8, or UTF-16 where a byte order mark says so. What is neither would come back as something else. */
export function textOf(bytes: Uint8Array): string {
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    const line = encoding === 'utf-8' ? ` in line ${firstLineThatIsNoText(bytes)}` : '';
    throw new SopsError('input', `the file holds bytes that are not ${encoding.toUpperCase()}${line}`, {
      hint: 'save it as UTF-8, or encrypt it as binary',
    });
  }
}

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

function firstLineThatIsNoText(bytes: Uint8Array): number {
  let line = 1;
  for (const each of linesOf(bytes)) {
    if (!isUtf8(each)) break;
    line += 1;
  }
  return line;
}

/** The lines of a file as bytes, without what ends them. */
export function* linesOf(bytes: Uint8Array): Generator<Buffer> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  for (;;) {
    const end = buffer.indexOf('\n', start);
    if (end < 0) break;
    yield buffer.subarray(start, end);
    start = end + 1;
  }
  yield buffer.subarray(start);
}
