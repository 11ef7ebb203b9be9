import type { Terminal } from '@slipway/kube';

import { cut } from './text-width.ts';

/** A few lines at the bottom of the terminal that are drawn over; lines logged meanwhile scroll above them. */
export class LiveView {
  readonly #terminal: Terminal;
  #lines: readonly string[] = [];
  #foot: readonly string[] = [];
  #drawn = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws `lines` in place of the last ones, and `foot` below them, which has its room first. Nothing is written when they are the same. */
  draw(lines: readonly string[], foot: readonly string[] = []): void {
    this.#lines = lines;
    this.#foot = foot;
    const text = this.#fitted();
    if (text === this.#drawn) return;
    this.#terminal.out(`${this.#erase()}${text}`);
    this.#drawn = text;
  }

  /** Writes a line above the view. */
  log(line: string): void {
    const text = this.#fitted();
    this.#terminal.out(`${this.#erase()}${line}\n${text}`);
    this.#drawn = text;
  }

  /** No line may wrap and none may scroll away: what was drawn could not be found again. */
  #fitted(): string {
    const room = Math.max(1, this.#terminal.rows() - 1 - this.#foot.length);
    const shown =
      this.#lines.length <= room
        ? this.#lines
        : [...this.#lines.slice(0, room - 1), `… and ${this.#lines.length - room + 1} more lines`];
    return [...shown, ...this.#foot].map((line) => `${cut(line, this.#terminal.columns())}\n`).join('');
  }

  #erase(): string {
    const height = this.#drawn.split('\n').length - 1;
    return height === 0 ? '' : `\u001B[${height}A\u001B[0J`;
  }
}
