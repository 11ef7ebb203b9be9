import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Document, LineCounter } from 'yaml';

import { ValuesError } from './values-error.ts';
import { parseLines } from './yaml-file.ts';

export interface ParsedFile {
  readonly document: Document;
  readonly lines: LineCounter;
  /** Never to be changed: others read it too. */
  readonly content: unknown;
}

/** A file of values is read by people; what is larger is none, and would stop the whole operator. */
const largestFile = 1024 * 1024;

/** Files as they were read last. One that is still the same is not read again: an apply looks at all of them a dozen times. */
export class ParsedFiles {
  readonly #known = new Map<string, { readonly stamp: string; readonly parsed: ParsedFile }>();

  /** The content of a file below `directory`, or `undefined` when there is none. */
  async read(directory: string, path: string): Promise<ParsedFile | undefined> {
    const whole = join(directory, path);
    // Like the folders: asked so often that waiting for a thread would take longest.
    const info = statSync(whole, { bigint: true, throwIfNoEntry: false });
    if (!info) return undefined;
    if (info.size > largestFile)
      throw new ValuesError('Malformed', 'the values repository cannot be read', [
        { file: path, path: '', message: `is larger than ${largestFile / 1024} KiB` },
      ]);
    // Files are replaced, never written over: a change has another inode, or at least another time.
    const stamp = `${info.ino} ${info.size} ${info.mtimeNs}`;
    const known = this.#known.get(whole);
    if (known?.stamp === stamp) return known.parsed;
    const parsed = parseLines(await readFile(whole, 'utf8'), path);
    this.#known.set(whole, { stamp, parsed });
    return parsed;
  }
}
