import { isUtf8 } from 'node:buffer';

import { SopsError } from '../sops-error.ts';
import { Mapping } from '../tree.ts';
import type { Format } from './format.ts';
import { jsonFormat } from './json-format.ts';

/** Any bytes, as the one value `data` of a JSON file. */
export const binaryFormat: Format = {
  name: 'binary',
  readPlain: (bytes) => [
    new Mapping().set('data', isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : new Uint8Array(bytes)),
  ],
  writePlain([document]) {
    const data = document?.get('data');
    if (typeof data === 'string') return Buffer.from(data);
    if (data instanceof Uint8Array) return Buffer.from(data);
    throw new SopsError('input', 'data: missing; this is not an encrypted binary file', {
      hint: 'name the format of the file',
    });
  },
  writeValue() {
    throw new SopsError('input', 'a binary file has no single values', { hint: 'name the format of the file' });
  },
  readEncrypted(bytes) {
    try {
      return jsonFormat.readEncrypted(bytes);
    } catch (cause) {
      if (!(cause instanceof SopsError)) throw cause;
      throw new SopsError('input', `not an encrypted file of bytes: ${cause.message}`, {
        hint: 'encrypt it first, or name the format of the file',
        cause,
      });
    }
  },
  writeEncrypted: (documents, block, indent) => jsonFormat.writeEncrypted(documents, block, indent),
};
