/** Text that is no YAML, or YAML that has no JSON form. */
export class YamlError extends Error {
  /** Starts at 1. */
  readonly line: number | undefined;
  /** The text may be YAML, but it is more than anyone reads, or says a thing twice: another reader would not know better. */
  readonly isLimit: boolean;

  constructor(message: string, line?: number, isLimit = false) {
    super(message);
    this.name = 'YamlError';
    this.line = line;
    this.isLimit = isLimit;
  }
}
