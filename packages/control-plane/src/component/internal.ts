import { ComponentError } from './component-error.ts';

/**
 * Something the customer must not see: a kubeconfig, a name on a cluster of ours. It is no string, so it does not get into a message
 * by mistake; what was revealed in a reconciliation is taken out of every text that reconciliation writes.
 */
export class Internal {
  readonly #value: string;
  readonly #secrets: InternalTexts;

  constructor(value: string, secrets: InternalTexts) {
    this.#value = value;
    this.#secrets = secrets;
    secrets.remember(value);
  }

  /** The text itself, for a request or an object on another cluster. */
  reveal(): string {
    this.#secrets.remember(this.#value);
    return this.#value;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }
}

/** Shorter texts are words of every sentence. */
const shortest = 4;

/** From here on a word inside an internal text is taken for a credential of its own. */
const longWord = 16;

/** What was marked as internal in one reconciliation. */
export class InternalTexts {
  readonly #texts = new Set<string>();

  remember(text: string): void {
    this.#add(text);
    // Errors quote a piece of a kubeconfig, not the whole. Addresses are no secret, and belong to what the customer sees.
    for (const part of text.split(/[\s"',]+/)) if (part.length >= longWord && !/^https?:/.test(part)) this.#add(part);
  }

  #add(text: string): void {
    if (text.length >= shortest) this.#texts.add(text);
  }

  /** An error without anything internal, for the log. */
  clean(error: unknown): unknown {
    const text = error instanceof Error ? error.message : String(error);
    const clean = this.redact(text);
    if (clean === text && !(error instanceof Error && error.cause !== undefined && this.#hides(error.cause)))
      return error;
    return error instanceof ComponentError ? new ComponentError(error.reason, clean) : new Error(clean);
  }

  #hides(cause: unknown): boolean {
    const text = cause instanceof Error ? `${cause.message}${cause.stack ?? ''}` : String(cause);
    return this.redact(text) !== text;
  }

  /** `value` with every text in it redacted. */
  redactAll<T>(value: T): T {
    if (typeof value === 'string') return this.redact(value) as T;
    if (Array.isArray(value)) return value.map((item: unknown) => this.redactAll(item)) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.redactAll(item)])) as T;
  }

  /** `text` with everything internal replaced. */
  redact(text: string): string {
    let clean = text;
    // Longest first: a part must not hide the rest of a whole.
    for (const secret of [...this.#texts].sort((a, b) => b.length - a.length)) clean = clean.replaceAll(secret, '***');
    return clean;
  }
}
