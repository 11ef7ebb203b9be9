export type OperatorErrorCode =
  /** A step failed; the cause says why. */
  | 'StepFailed'
  | 'ClusterTooOld'
  /** The server did not take a definition into use. */
  | 'NotEstablished'
  | 'InvalidSetting'
  | 'InvalidVersion'
  /** The values of the first installation are missing, or cannot be used. */
  | 'InvalidValuesInput'
  /** Nobody knows the password of the values repository. */
  | 'NoGitPassword'
  /** Somebody else changed the same lines of the values repository. */
  | 'PushedMeanwhile'
  /** Secrets are to be encrypted in a way that is not supported. */
  | 'UnsupportedProvider'
  | 'NotHealthy';

/** What keeps the platform from going on. Its message is for people, says what to do, and may stand in the state on the cluster. */
export class OperatorError extends Error {
  readonly code: OperatorErrorCode;

  constructor(code: OperatorErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'OperatorError';
    this.code = code;
  }
}

/** Runs a step and says which one it was when it fails. */
export async function step<T>(failure: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new OperatorError('StepFailed', failure, { cause: error });
  }
}

/** What people need to know of a failure: the step, and what was the matter in it. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error instanceof OperatorError && error.code === 'StepFailed'
    ? `${error.message}: ${failureText(error.cause)}`
    : error.message;
}
