import { textToBytes } from '../go/bytes.ts';
import { quote } from '../go/quote.ts';

/** What is wrong with a text that is no JSON, in the words of Go's `encoding/json`. */
export function jsonComplaint(text: string): string {
  try {
    new Scanner(text).document();
  } catch (error) {
    if (error instanceof Complaint) return error.message;
    throw error;
  }
  return atEnd;
}

class Complaint extends Error {}

const atEnd = 'unexpected end of JSON input';
const literals: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };
const inEscape = String.raw`in \u hexadecimal character escape`;

class Scanner {
  /** A character a byte, for Go looks at those; behind the last it looks at a space. */
  readonly #bytes: string;
  #at = 0;

  constructor(text: string) {
    this.#bytes = `${Buffer.from(textToBytes(text)).toString('latin1')} `;
  }

  document(): void {
    /** The brackets around the present place. */
    const open: string[] = [];
    let isKey = false;
    for (;;) {
      if (isKey) this.#key();
      const bracket = this.#value();
      isKey = bracket === '{';
      if (bracket !== undefined) {
        open.push(bracket);
        if (this.#peek() !== closing(bracket)) continue;
      }
      while (open.length > 0 && this.#peek() === closing(open.at(-1)!)) {
        this.#at += 1;
        open.pop();
      }
      const around = open.at(-1);
      if (around === undefined) {
        this.#skipSpaces();
        if (this.#at < this.#bytes.length) this.#fail('after top-level value');
        return;
      }
      isKey = around === '{';
      if (this.#peek() !== ',') this.#fail(isKey ? 'after object key:value pair' : 'after array element');
      this.#at += 1;
    }
  }

  /** The next character that is no space. */
  #peek(): string {
    this.#skipSpaces();
    const char = this.#bytes[this.#at];
    if (char === undefined) throw new Complaint(atEnd);
    return char;
  }

  #skipSpaces(): void {
    while (/[ \t\r\n]/.test(this.#bytes[this.#at] ?? '')) this.#at += 1;
  }

  #fail(context: string): never {
    const char = this.#bytes[this.#at];
    if (char === undefined) throw new Complaint(atEnd);
    const shown = char === '"' ? char : char === "'" ? String.raw`\'` : quote(char).slice(1, -1);
    throw new Complaint(`invalid character '${shown}' ${context}`);
  }

  /** Passes what the place has to hold. */
  #pass(pattern: RegExp, context: string): void {
    if (!pattern.test(this.#bytes[this.#at] ?? '')) this.#fail(context);
    this.#at += 1;
  }

  #key(): void {
    if (this.#peek() !== '"') this.#fail('looking for beginning of object key string');
    this.#string();
    if (this.#peek() !== ':') this.#fail('after object key');
    this.#at += 1;
  }

  /** Passes a value, or the bracket it begins with, which is answered. */
  #value(): string | undefined {
    const char = this.#peek();
    if (char === '{' || char === '[') {
      this.#at += 1;
      return char;
    }
    const literal = literals[char];
    if (char === '"') this.#string();
    else if (/[-0-9]/.test(char)) this.#number();
    else if (literal === undefined) this.#fail('looking for beginning of value');
    else
      for (const expected of literal)
        this.#pass(new RegExp(expected), `in literal ${literal} (expecting '${expected}')`);
    return undefined;
  }

  #string(): void {
    this.#at += 1;
    for (;;) {
      const char = this.#bytes[this.#at];
      if (char === undefined || char < ' ') this.#fail('in string literal');
      this.#at += 1;
      if (char === '"') return;
      if (char !== '\\') continue;
      const isCode = this.#bytes[this.#at] === 'u';
      this.#pass(/["\\/bfnrtu]/, 'in string escape code');
      for (let digits = isCode ? 4 : 0; digits > 0; digits -= 1) this.#pass(/[0-9a-fA-F]/, inEscape);
    }
  }

  #number(): void {
    if (this.#bytes[this.#at] === '-') this.#at += 1;
    if (this.#bytes[this.#at] === '0') this.#at += 1;
    else this.#digits('in numeric literal');
    if (this.#bytes[this.#at] === '.') {
      this.#at += 1;
      this.#digits('after decimal point in numeric literal');
    }
    if (!/[eE]/.test(this.#bytes[this.#at] ?? '')) return;
    this.#at += 1;
    if (/[-+]/.test(this.#bytes[this.#at] ?? '')) this.#at += 1;
    this.#digits('in exponent of numeric literal');
  }

  #digits(context: string): void {
    this.#pass(/[0-9]/, context);
    while (/[0-9]/.test(this.#bytes[this.#at] ?? '')) this.#at += 1;
  }
}

function closing(bracket: string): string {
  return bracket === '{' ? '}' : ']';
}
