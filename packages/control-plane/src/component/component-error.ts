import type { Reason } from '../reasons.ts';

/** A failure that shows in a condition: the reason for programs, the message for people. Neither may hold anything internal. */
export class ComponentError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ComponentError';
    this.reason = reason;
  }
}

/** Runs `work`; a failure without a reason of its own shows with this one. */
export async function withReason<T>(reason: Reason, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ComponentError) throw error;
    throw new ComponentError(reason, error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** A component's controller tried what the contract forbids. This is a bug of the component, not of its user. */
export class ContractViolation extends TypeError {
  constructor(message: string) {
    super(message);
    this.name = 'ContractViolation';
  }
}
