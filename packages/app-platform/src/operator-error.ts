/** A step that failed. What the state on the cluster says is its message; the cause is for the log. */
export class OperatorError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'OperatorError';
  }
}

/** Runs a step and says which one it was when it fails. */
export async function step<T>(failure: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new OperatorError(failure, error);
  }
}

/** What people need to know of a failure: the step, and what was the matter in it. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error instanceof OperatorError
    ? `${error.message}: ${failureText(error.cause)}`
    : error.message;
}
