export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Named values of a log line. An `Error` under `error` is printed with its type, message and stack. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where log lines go. Small on purpose: a test passes one that remembers, a program may pass its own. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  with(fields: LogFields): Logger;
}

/** Says nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLogger,
};

export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** Remembers every line in `entries`: for tests. */
export function memoryLogger(
  entries: LogEntry[] = [],
  bound: LogFields = {},
): Logger & { readonly entries: readonly LogEntry[] } {
  const write =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void =>
      void entries.push({ level, message, fields: { ...bound, ...fields } });
  return {
    entries,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (fields) => memoryLogger(entries, { ...bound, ...fields }),
  };
}
