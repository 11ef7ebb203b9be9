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

/** What was marked as internal in one reconciliation. */
export class InternalTexts {
  readonly #texts = new Set<string>();

  remember(text: string): void {
    for (const part of [text, ...text.split(/[\s"',]+/)])
      if (part.length >= shortest * 4 || part === text) this.#add(part);
  }

  #add(text: string): void {
    if (text.length >= shortest) this.#texts.add(text);
  }

  /** `text` with everything internal replaced. */
  redact(text: string): string {
    let clean = text;
    // Longest first: a part must not hide the rest of a whole.
    for (const secret of [...this.#texts].sort((a, b) => b.length - a.length)) clean = clean.replaceAll(secret, '***');
    return clean;
  }
}
