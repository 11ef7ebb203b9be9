/** Shorter values would also hit innocent words. */
const shortest = 6;

/** Remembers secret values and takes them out of texts. */
export class Redaction {
  #values: readonly string[] = [];

  /** @param data as in a Secret: base64 */
  learn(data: Readonly<Record<string, string>>, harmless: ReadonlySet<string>): void {
    const found = Object.entries(data)
      .filter(([key]) => !harmless.has(key))
      .flatMap(([, value]) => [value, Buffer.from(value, 'base64').toString('utf8')])
      .filter((value) => value.length >= shortest);
    // The longest first: a value may be part of another.
    this.#values = [...new Set([...this.#values, ...found])].sort((a, b) => b.length - a.length);
  }

  apply(text: string): string {
    return this.#values.reduce((result, value) => result.replaceAll(value, '***'), text);
  }
}
