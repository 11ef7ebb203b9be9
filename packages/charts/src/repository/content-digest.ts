import { createHash } from 'node:crypto';

/** `sha256:…` or `sha512:…`: what the bytes of something in a registry have to come to. */
export class ContentDigest {
  readonly text: string;
  readonly #algorithm: string;

  private constructor(text: string, algorithm: string) {
    this.text = text;
    this.#algorithm = algorithm;
  }

  /** `undefined` for what is no digest, or one of a kind that cannot be checked. */
  static parse(value: unknown): ContentDigest | undefined {
    const match = typeof value === 'string' ? /^(?:(sha256):[0-9a-f]{64}|(sha512):[0-9a-f]{128})$/.exec(value) : null;
    return match ? new ContentDigest(match[0], match[1] ?? match[2]!) : undefined;
  }

  /** The SHA-256 alone; `undefined` for another kind. */
  get sha256(): string | undefined {
    return this.#algorithm === 'sha256' ? this.text.slice('sha256:'.length) : undefined;
  }

  /** The digest of these bytes, of the same kind. */
  of(data: Uint8Array): string {
    return `${this.#algorithm}:${createHash(this.#algorithm).update(data).digest('hex')}`;
  }
}
