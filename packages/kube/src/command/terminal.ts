import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';

/** Everything a command may touch outside the cluster; a test passes one that remembers. */
export interface Terminal {
  /** Writes to standard output, as it is. */
  out(text: string): void;
  /** Writes bytes to standard output that need not become a text first. Absent where only texts are taken. */
  outBytes?(bytes: Uint8Array): void;
  /** Writes to standard error, as it is. */
  err(text: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** All of standard input, which need not be a text. Absent where only texts are given. */
  readInputBytes?(): Promise<Uint8Array>;
  /** Asks for what is not to be seen, such as a passphrase; undefined when nobody sits there. Absent where nobody ever does. */
  askHidden?(question: string): Promise<string | undefined>;
  /** Standard output is a terminal: live views and colours make sense. */
  readonly interactive: boolean;
  /** Colours are wanted (a terminal, and `NO_COLOR` is not set). */
  readonly colours: boolean;
  /** Width of the terminal. */
  columns(): number;
  /** Height of the terminal. */
  rows(): number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts at Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** Tells the process that it is at work for moments only. Absent where the process is not the command's own. */
  readonly endsSoon?: () => void;
}

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34 } as const;

export type Style = keyof typeof codes;

/** `text` in a colour, where colours are wanted. */
export function styled(terminal: Pick<Terminal, 'colours'>, style: Style, text: string): string {
  return terminal.colours ? `\u001B[${codes[style]}m${text}\u001B[0m` : text;
}
