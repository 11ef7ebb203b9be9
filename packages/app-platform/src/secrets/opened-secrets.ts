import { createHash } from 'node:crypto';

/**
 * Secret files as they were opened last, by what is in the encrypted file and the keys it was opened with. Opening one takes longer than
 * reading all values; most applies find them as they were.
 */
export class OpenedSecrets {
  #texts = new Map<string, string>();
  #lately = new Map<string, string>();

  /** The text of an encrypted file, if it was opened before with these keys. */
  of(sealed: string, keys: ReadonlySet<string>): string | undefined {
    const id = idOf(sealed, keys);
    const text = this.#lately.get(id) ?? this.#texts.get(id);
    if (text !== undefined) this.#lately.set(id, text);
    return text;
  }

  remember(sealed: string, keys: ReadonlySet<string>, text: string): void {
    this.#lately.set(idOf(sealed, keys), text);
  }

  /** Drops what nobody has asked for since the last time: it belongs to files that are gone. */
  forgetOthers(): void {
    this.#texts = this.#lately;
    this.#lately = new Map();
  }
}

function idOf(sealed: string, keys: ReadonlySet<string>): string {
  const hash = createHash('sha256').update(sealed);
  for (const key of keys) hash.update('\0').update(key);
  return hash.digest('base64');
}
