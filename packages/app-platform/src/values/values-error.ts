export type ValuesErrorCode = 'Malformed' | 'Encrypted' | 'Invalid' | 'InvalidSchema' | 'Migration';

export interface ValuesProblem {
  /** Below the values repository; absent when no file says it. */
  readonly file?: string;
  readonly line?: number;
  /** Into the values tree, with dots. */
  readonly path: string;
  readonly message: string;
}

/** Values nothing can be done with, with every problem and where it is. */
export class ValuesError extends Error {
  readonly code: ValuesErrorCode;
  readonly problems: readonly ValuesProblem[];

  constructor(code: ValuesErrorCode, message: string, problems: readonly ValuesProblem[] = [], cause?: unknown) {
    super([message, ...problems.map(problemLine)].join('\n'), { cause });
    this.name = 'ValuesError';
    this.code = code;
    this.problems = problems;
  }
}

export function problemLine({ file, line, path, message }: ValuesProblem): string {
  const where = file === undefined ? '' : line === undefined ? `${file}: ` : `${file}:${line}: `;
  return `${where}${path === '' ? '' : `${path}: `}${message}`;
}
