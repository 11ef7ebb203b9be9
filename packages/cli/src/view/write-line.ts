import type { Terminal } from '@slipway/kube';

import { fold } from './fold.ts';

/** Writes a line; on a terminal it is folded at words, elsewhere it stays one. */
export function writeLine(terminal: Pick<Terminal, 'out' | 'interactive' | 'columns'>, line: string): void {
  const lines = terminal.interactive ? fold(line, terminal.columns()) : [line];
  terminal.out(lines.map((each) => `${each}\n`).join(''));
}
