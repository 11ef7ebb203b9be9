export type GitErrorCode = 'Failed' | 'Timeout' | 'Killed' | 'NotFound' | 'Unauthorized' | 'Unreachable';

/** Git said no. The text never holds a credential. */
export class GitError extends Error {
  readonly code: GitErrorCode;
  /** Of the git process; absent where none ran. */
  readonly exitCode: number | undefined;

  constructor(code: GitErrorCode, message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'GitError';
    this.code = code;
    this.exitCode = options.exitCode;
  }
}
