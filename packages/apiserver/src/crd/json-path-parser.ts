/** One step of a path. */
export type JsonPathNode =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'wildcard' }
  /** `..` */
  | { readonly is: 'recursive' }
  /** `[1]`, `[-1]`, `[0:2]`, `[::2]`; `one` when only a start was given. */
  | {
      readonly is: 'slice';
      readonly from: number;
      readonly to: number | undefined;
      readonly one: boolean;
      readonly by: number;
    }
  | { readonly is: 'union'; readonly of: readonly (readonly JsonPathNode[])[] }
  | { readonly is: 'filter'; readonly left: JsonPathNode[]; readonly operator: string; readonly right: JsonPathNode[] }
  | { readonly is: 'literal'; readonly value: string | number | boolean }
  /** A bare word, which finds nothing. */
  | { readonly is: 'identifier'; readonly name: string };

/** Parses what client-go's template language takes between braces. Throws an `Error` that says what is wrong. */
export function parseJsonPath(text: string): JsonPathNode[] {
  return new Parser(text).parse();
}

const terminators = new Set(['', '.', ',', '[', ']', '$', '@', '{', '}', ' ', '\r', '\n']);

class Parser {
  readonly #text: string;
  readonly #nodes: JsonPathNode[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): JsonPathNode[] {
    while (this.#at < this.#text.length) this.#next();
    return this.#nodes;
  }

  #next(): void {
    const rest = this.#text.slice(this.#at);
    if (rest.startsWith('[?(')) return this.#filter();
    if (rest.startsWith('..')) return this.#recursive();
    const first = rest[0]!;
    if (first === ' ' || first === '@' || first === '$') this.#at += 1;
    else if (first === '[') this.#brackets();
    else if (first === '"' || first === "'") this.#quoted(first);
    else if (first === '.') this.#field(this.#at + 1);
    else if (/[-+\d]/.test(first)) this.#number(rest);
    else if (/[\p{L}\p{N}_]/u.test(first)) this.#identifier();
    else throw new Error(`unrecognized character in action: ${JSON.stringify(first)}`);
  }

  #recursive(): void {
    if (this.#nodes.at(-1)?.is === 'recursive') throw new Error('invalid multiple recursive descent');
    this.#nodes.push({ is: 'recursive' });
    this.#at += 2;
    if (/[\p{L}\p{N}_]/u.test(this.#text[this.#at] ?? '')) this.#field(this.#at);
  }

  #field(start: number): void {
    let end = start;
    while (!terminators.has(this.#text[end] ?? '')) end += this.#text[end] === '\\' ? 2 : 1;
    const name = this.#text.slice(start, end).replaceAll('\\', '');
    this.#nodes.push(name === '*' ? { is: 'wildcard' } : { is: 'field', name });
    this.#at = Math.min(end, this.#text.length);
  }

  #brackets(): void {
    const end = this.#text.indexOf(']', this.#at);
    if (end < 0) throw new Error('unterminated array');
    const inner = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    const parts = inner.split(',');
    if (parts.length > 1) {
      this.#nodes.push({ is: 'union', of: parts.map((part) => parseJsonPath(`[${part.trim()}]`)) });
      return;
    }
    const key = /^'([^']*)'$/.exec(inner);
    // A dot inside of the quotes has to be escaped: what stands there is a path of its own.
    if (key) this.#nodes.push(...parseJsonPath(`.${key[1]!}`));
    else this.#nodes.push(sliceNode(inner === '*' ? ':' : inner));
  }

  #filter(): void {
    const start = this.#at + '[?('.length;
    let quote = '';
    let end = start;
    for (; ; end += 1) {
      const char = this.#text[end];
      if (char === undefined || char === '\n') throw new Error('unterminated filter');
      if (char === ')' && quote === '') break;
      if (quote === '' && (char === '"' || char === "'")) quote = char;
      else if (char === quote && this.#text[end - 1] !== '\\') quote = '';
    }
    if (this.#text[end + 1] !== ']') throw new Error('unclosed array expect ]');
    this.#at = end + 2;
    const inner = this.#text.slice(start, end);
    const compared = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(inner);
    const [left, operator, right] = compared ? [compared[1]!, compared[2]!, compared[3]!] : [inner, 'exists', ''];
    this.#nodes.push({ is: 'filter', left: parseJsonPath(left), operator, right: parseJsonPath(right) });
  }

  #quoted(quote: string): void {
    let end = this.#at + 1;
    for (; this.#text[end] !== quote || this.#text[end - 1] === '\\'; end += 1) {
      if (end >= this.#text.length) throw new Error('unterminated quoted string');
    }
    const value = this.#text.slice(this.#at + 1, end).replaceAll(/\\(.)/g, '$1');
    this.#nodes.push({ is: 'literal', value });
    this.#at = end + 1;
  }

  #number(rest: string): void {
    const digits = /^[-+]?[\d.]*/.exec(rest)![0];
    const value = Number(digits);
    if (/\d/.test(digits) === false || Number.isNaN(value)) throw new Error(`cannot parse number ${digits}`);
    this.#nodes.push({ is: 'literal', value });
    this.#at += digits.length;
  }

  #identifier(): void {
    let end = this.#at;
    while (!terminators.has(this.#text[end] ?? '')) end += 1;
    const name = this.#text.slice(this.#at, end);
    this.#nodes.push(
      name === 'true' || name === 'false' ? { is: 'literal', value: name === 'true' } : { is: 'identifier', name },
    );
    this.#at = end;
  }
}

function sliceNode(text: string): JsonPathNode {
  const found = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text);
  if (!found) throw new Error(`invalid array index ${text}`);
  const [from, to, by] = [found[1] ?? '', found[2]?.slice(1) ?? '', found[3]?.slice(1) ?? ''].map((part) => {
    if (part === '-') throw new Error(`array index ${part} is not a number`);
    return part === '' ? undefined : Number(part);
  });
  return { is: 'slice', from: from ?? 0, to, one: found[2] === undefined, by: by ?? 1 };
}
