/** How `slipway` ends. Documented in `docs/cli.md`; scripts rely on it. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  notAllowed: 4,
  notInstalled: 5,
  /** Of commands that compare, where 1 says that there are differences. */
  failedComparing: 6,
  interrupted: 130,
} as const;

/** Something the user can do something about: one line that says what is the matter, one that says what to do. */
export class CommandError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(message: string, options: { hint?: string; exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'CommandError';
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? exitCodes.failed;
  }
}
