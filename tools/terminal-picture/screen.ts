/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  /** SGR codes in force, such as 1 (bold), 2 (dim), 32 (green). */
  readonly codes: readonly number[];
}

export interface Line {
  readonly spans: readonly Span[];
  /** When its text was last written, in milliseconds since the start. */
  readonly atMs: number;
}

const escape = String.fromCharCode(0x1b);
const pieces = new RegExp(`${escape}\\[([0-9;]*)([A-Za-z])|\\r?\\n|\\r|[^${escape}\\r\\n]+`, 'g');

/** What a terminal shows: the few sequences `slipway` writes, everything else is text. */
export class Screen {
  #lines: { spans: Span[]; atMs: number }[] = [{ spans: [], atMs: 0 }];
  #row = 0;
  #codes: number[] = [];

  write(text: string, atMs: number): void {
    for (const [piece, numbers = '', letter] of text.matchAll(pieces)) {
      if (letter === 'm') this.#style(numbers);
      else if (letter === 'A') this.#row = Math.max(0, this.#row - Number(numbers || 1));
      else if (letter === 'J') this.#eraseBelow(atMs);
      else if (letter !== undefined) throw new Error(`the screen does not know ESC[${numbers}${letter}`);
      else if (piece.endsWith('\n')) this.#nextLine(atMs);
      else if (piece !== '\r') this.#append(piece, atMs);
    }
  }

  /** All lines so far; a redrawn line that did not change keeps its first moment. */
  lines(): readonly Line[] {
    const last = this.#lines.findLastIndex(({ spans }) => spans.length > 0);
    return this.#lines.slice(0, last + 1);
  }

  #style(numbers: string): void {
    for (const code of (numbers || '0').split(';').map(Number)) {
      if (code === 0) this.#codes = [];
      else this.#codes = [...this.#codes, code];
    }
  }

  #append(text: string, atMs: number): void {
    const line = this.#lines[this.#row]!;
    line.spans.push({ text, codes: this.#codes });
    line.atMs = atMs;
  }

  #nextLine(atMs: number): void {
    this.#row += 1;
    this.#lines[this.#row] ??= { spans: [], atMs };
  }

  #eraseBelow(atMs: number): void {
    this.#lines.length = this.#row;
    this.#lines.push({ spans: [], atMs });
  }
}

export function textOf(line: Line): string {
  return line.spans.map((span) => span.text).join('');
}
