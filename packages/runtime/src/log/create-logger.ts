import { type Clock, systemClock } from '@slipway/kube';
import { pino, type Logger as Pino } from 'pino';

import type { LogFields, Logger, LogLevel } from './logger.ts';

export interface LoggerOptions {
  /** `json`: one object per line, for clusters. `text`: for people. `auto` (default): text when the destination is a terminal. */
  format?: 'json' | 'text' | 'auto';
  /** Lines below it are dropped before their fields are looked at. Default `info`. */
  level?: LogLevel;
  /** Where lines go. Default: standard error. */
  destination?: { write(line: string): unknown; isTTY?: boolean };
  /** Default: the machine's. */
  clock?: Clock;
}

/** A logger for programs: JSON lines in a cluster, readable lines in a terminal. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { format = 'auto', level = 'info', destination = process.stderr, clock = systemClock } = options;
  const text = format === 'text' || (format === 'auto' && destination.isTTY === true);
  return text ? textLogger(level, destination, clock, {}) : jsonLogger(level, destination, clock);
}

function jsonLogger(level: LogLevel, destination: { write(line: string): unknown }, clock: Clock): Logger {
  const root = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
    },
    { write: (line: string) => void destination.write(line) },
  );
  return wrap(root);
}

function wrap(target: Pino): Logger {
  return {
    debug: (message, fields) => target.debug(fields ?? {}, message),
    info: (message, fields) => target.info(fields ?? {}, message),
    warn: (message, fields) => target.warn(fields ?? {}, message),
    error: (message, fields) => target.error(fields ?? {}, message),
    with: (fields) => wrap(target.child(fields)),
  };
}

const order: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

function textLogger(
  level: LogLevel,
  destination: { write(line: string): unknown; isTTY?: boolean },
  clock: Clock,
  bound: LogFields,
): Logger {
  const write =
    (lineLevel: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      if (order[lineLevel] < order[level]) return;
      const time = new Date(clock.now()).toISOString().slice(11, 23);
      const all = { ...bound, ...fields };
      const stack = lineLevel === 'error' && all['error'] instanceof Error ? indented(all['error'].stack) : '';
      const pairs = Object.entries(all).map(([name, value]) => ` ${name}=${asText(value)}`);
      destination.write(`${time} ${lineLevel.toUpperCase().padEnd(5)} ${message}${pairs.join('')}\n${stack}`);
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (fields) => textLogger(level, destination, clock, { ...bound, ...fields }),
  };
}

function asText(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.message);
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? String(value);
}

function indented(stack: string | undefined): string {
  return stack ? `${stack.replace(/^/gm, '    ')}\n` : '';
}

/** The parts of an error worth a log line. Nothing else of it is printed: errors of clients may carry whole requests. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, reason } = error as { code?: unknown; reason?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(typeof reason === 'string' ? { reason } : {}),
    stack: error.stack,
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}
