import type { Terminal } from '../terminal.ts';

/** A few lines at the bottom of the terminal that are drawn over; lines logged meanwhile scroll above them. */
export class LiveView {
  readonly #terminal: Terminal;
  #drawn = 0;
  #last = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws `lines` in place of the last ones. Nothing is written when they are the same. */
  draw(lines: readonly string[]): void {
    const text = lines.join('\n');
    if (text === this.#last) return;
    this.#terminal.out(`${this.#erase()}${text}\n`);
    this.#last = text;
    this.#drawn = lines.length;
  }

  /** Writes a line above the view. */
  log(line: string): void {
    const text = this.#last;
    this.#terminal.out(`${this.#erase()}${line}\n`);
    this.#drawn = 0;
    this.#last = '';
    if (text) this.draw(text.split('\n'));
  }

  #erase(): string {
    return this.#drawn === 0 ? '' : `\u001B[${this.#drawn}A\u001B[0J`;
  }
}
