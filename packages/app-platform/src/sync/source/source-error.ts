export type SourceErrorCode =
  /** The Application asks for something that cannot be. */
  | 'InvalidSpec'
  /** What is in Git cannot be read or rendered. */
  | 'InvalidSource';

/** What an Application says its source is cannot be used. The text says what to change. */
export class SourceError extends Error {
  readonly code: SourceErrorCode;

  constructor(code: SourceErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'SourceError';
    this.code = code;
  }
}
