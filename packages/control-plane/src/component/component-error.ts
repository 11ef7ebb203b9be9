/** A failure that shows in a condition: the reason for programs, the message for people. Neither may hold anything internal. */
export class ComponentError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ComponentError';
    this.reason = reason;
  }
}

/** A component's controller tried what the contract forbids. This is a bug of the component, not of its user. */
export class ContractViolation extends TypeError {
  constructor(message: string) {
    super(message);
    this.name = 'ContractViolation';
  }
}
