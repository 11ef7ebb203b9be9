/** What was wrong about it. */
export type InputErrorCode = 'Address' | 'Duration' | 'Name' | 'Object' | 'Owner' | 'Quantity' | 'Selector';

/**
 * Something a person wrote, in a spec, a manifest or a setting, that cannot be used as it is. The message says what and how to
 * write it instead. A `TypeError`, in contrast, is the mistake of whoever wrote the program.
 */
export class InputError extends Error {
  readonly code: InputErrorCode;

  constructor(code: InputErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'InputError';
    this.code = code;
  }
}
