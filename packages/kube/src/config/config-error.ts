/** A configuration that cannot be used. The message names the file, the context and the field. */
export class ConfigError extends Error {
  readonly file: string | undefined;
  readonly context: string | undefined;
  readonly field: string | undefined;

  constructor(problem: string, where: { file?: string; context?: string; field?: string; cause?: unknown } = {}) {
    const place = [where.file, where.context ? `context "${where.context}"` : undefined, where.field]
      .filter((part) => part !== undefined)
      .join(': ');
    super(
      place === '' ? problem : `${place}: ${problem}`,
      where.cause === undefined ? undefined : { cause: where.cause },
    );
    this.name = 'ConfigError';
    this.file = where.file;
    this.context = where.context;
    this.field = where.field;
  }
}

/** Nobody has said which cluster, and there is no file in the usual place either. */
export class NoConfigError extends ConfigError {
  constructor(looked: readonly string[]) {
    super(`there is no kubeconfig: looked for ${looked.join(', ')}; set KUBECONFIG or name a file`);
    this.name = 'NoConfigError';
  }
}

/** The reason of a failed file operation without the path, which the error names already. */
export function fileProblem(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return 'does not exist';
    case 'EACCES':
    case 'EPERM':
      return 'may not be read';
    case 'EISDIR':
      return 'is a directory';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
