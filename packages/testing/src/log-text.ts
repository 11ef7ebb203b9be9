import type { LogEntry } from '@slipway/runtime';

/** How many lines a reader of an error gets: the last ones tell what went wrong. */
const shownLines = 30;
/** The same in every line of a controller, and long. */
const leftOut = new Set(['reconcileId', 'controllerGroup', 'controllerKind']);

/** The last log lines of an operator, for the end of an error text, without those for who debugs the runtime. Empty when it said nothing. */
export function logText(logged: readonly LogEntry[]): string {
  const entries = logged.filter(({ level }) => level !== 'debug');
  if (entries.length === 0) return '';
  const omitted = entries.length - shownLines;
  const lines = entries.slice(-shownLines).map(lineText);
  return `\n\nwhat the operator logged${omitted > 0 ? ` (the last ${shownLines} of ${entries.length} lines)` : ''}:\n${lines.join('\n')}`;
}

function lineText({ level, message, fields }: LogEntry): string {
  const shown = Object.entries(fields).filter(([name, value]) => value !== undefined && !leftOut.has(name));
  const text = shown.map(([name, value]) => ` ${name}=${valueText(value)}`).join('');
  return `  ${level.toUpperCase().padEnd(5)} ${message}${text}`;
}

function valueText(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.message);
  return JSON.stringify(value);
}
