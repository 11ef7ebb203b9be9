import { isMap, type GoMap, type Value } from '../go/values.ts';

/** How scalars and keys are read; the strict reader's rules. */
export interface PlainRules {
  readonly plain: (text: string) => Value;
  readonly plainKey: (text: string) => string | undefined;
  /** The strict reader itself, for what in brackets or quotes is not plain. */
  readonly strict: (text: string) => Value;
  readonly strictKey: (text: string) => string | undefined;
}

/**
 * Reads the YAML people and programs write: mappings and lists by indentation, scalars on one line, literal blocks. A chart has
 * thousands of such lines and a fresh process reads each once, so it looks at every line once and makes nothing but the value.
 * Answers `undefined` for everything else, right or wrong: then the strict reader decides, and words the complaint.
 */
export function readPlain(text: string, rules: PlainRules): Value | undefined {
  if (text === 'null') return null;
  if (unusualCharacter.test(text)) return undefined;
  try {
    return new PlainReader(text, rules).document();
  } catch (error) {
    // What a rule refuses (a number JSON does not have) is refused again where it gets its place.
    if (error === unusual || error instanceof Error) return undefined;
    throw error;
  }
}

/** Line breaks of other systems, control characters, byte order marks, halves of characters. */
const unusualCharacter = /[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

const mostNesting = 100;
const longestKey = 1000;

/** A key as it is mostly written. What follows it has to be a colon, and then a space or the end of the line. */
const plainKey = /[A-Za-z0-9_./$\xc0-\u1fff](?: *(?:[^\s:#]|:(?=\S)))*/y;
const quotedKey = /"(?:[^"\\\t\n]|\\[^\t\n])*"|'(?:[^'\t\n]|'')*'/y;
const doubleQuoted = /"(?:[^"\\\t]|\\[^\t])*"/y;
const singleQuoted = /'(?:[^'\t]|'')*'/y;
/** A quoted text whose escapes mean the same in JSON. */
const likeJson = /^(?:[^\\]|\\["\\nrt])*$/;
const shortItem = String.raw`(?:\w[\w./-]*|"[\w./-]*"|'[\w./-]*')`;
/** `[80, http]`, `["ALL"]`: items without a space, a comma or a quote in them. */
const shortListText = String.raw`\[ *${shortItem}(?: *, *${shortItem})* *\]`;
const shortList = new RegExp(`^${shortListText}$`);
/** `{key: app, values: [web]}`: such items, and lists of them, by keys of the same kind. */
const shortPair = String.raw`(?:\w[\w./-]*): +(?:${shortItem}|${shortListText})`;
const shortMap = new RegExp(String.raw`^\{ *${shortPair}(?: *, *${shortPair})* *\}$`);
const eachPair = new RegExp(String.raw`(\w[\w./-]*): +(${shortItem}|${shortListText})`, 'g');
/** What a plain scalar on a line of its own cannot begin with. */
const indicators = new Set('-?:,[]{}#&*!|>\'"%@`');
const lineEnd = '\n';

/** Thrown where the text is not plain. No error: nobody sees it, and a stack trace would take longer than the line did. */
const unusual = Symbol('unusual');

class PlainReader {
  readonly #text: string;
  readonly #rules: PlainRules;
  /** Keys repeat: each is read once. */
  readonly #keys = new Map<string, string>();
  /** The line that is looked at: where it ends, where its content begins, and in which column. -1 at the end of the text. */
  #end = -1;
  #at = 0;
  #indent = 0;
  #depth = 0;

  constructor(text: string, rules: PlainRules) {
    this.#text = text;
    this.#rules = rules;
  }

  document(): Value {
    if (this.#text.startsWith('---\n')) this.#end = '---'.length;
    this.#nextLine();
    if (this.#indent < 0) return null;
    const value = this.#isBracket() ? this.#scalar(-1) : this.#block();
    if (this.#indent >= 0) this.#unusual();
    return value;
  }

  #unusual(): never {
    throw unusual;
  }

  /** Goes to the next line that says something. */
  #nextLine(): void {
    const text = this.#text;
    while (this.#end < text.length) {
      const start = this.#end + 1;
      let at = start;
      while (text[at] === ' ') at += 1;
      const found = text.indexOf(lineEnd, at);
      this.#end = found < 0 ? text.length : found;
      if (at === this.#end || text[at] === '#') continue;
      if (at === start && (text.startsWith('---', at) || text.startsWith('...', at))) this.#unusual();
      this.#at = at;
      this.#indent = at - start;
      return;
    }
    this.#indent = -1;
  }

  /** The mapping or list that begins at the present place. */
  #block(): Value {
    this.#depth += 1;
    if (this.#depth > mostNesting) this.#unusual();
    const value = this.#isItem() ? this.#list(this.#indent) : this.#mapping(this.#indent);
    this.#depth -= 1;
    return value;
  }

  #isItem(): boolean {
    return this.#text[this.#at] === '-' && this.#isSpaceOrEnd(this.#at + 1);
  }

  #isLongKey(): boolean {
    return this.#text[this.#at] === '?' && this.#text[this.#at + 1] === ' ';
  }

  #isSpaceOrEnd(at: number): boolean {
    return at === this.#end || this.#text[at] === ' ';
  }

  #list(indent: number): Value[] {
    const items: Value[] = [];
    while (this.#indent === indent && this.#isItem()) {
      const start = this.#at;
      this.#skipSpaces(start + 1);
      if (this.#atNothing()) items.push(this.#nested(indent));
      else if (this.#isItem() || this.#isLongKey() || this.#keyEnd() !== undefined) {
        // `- - a` and `- a: 1`: what stands behind the dash begins in its own column.
        this.#indent = indent + (this.#at - start);
        items.push(this.#block());
      } else items.push(this.#scalar(indent));
    }
    return items;
  }

  #mapping(indent: number): GoMap {
    const map: GoMap = new Map();
    while (this.#indent === indent) {
      const key = this.#isLongKey() ? this.#longKey(indent) : this.#simpleKey();
      if (!this.#atNothing()) map.set(key, this.#scalar(indent));
      else {
        const value = this.#nested(indent);
        // A list may stand in the column of its key.
        map.set(key, value === null && this.#indent === indent && this.#isItem() ? this.#list(indent) : value);
      }
    }
    return map;
  }

  /** What the lines below hold, if they are further in. */
  #nested(indent: number): Value {
    this.#nextLine();
    if (this.#indent <= indent) return null;
    return this.#isBracket() ? this.#scalar(indent) : this.#block();
  }

  #isBracket(): boolean {
    const char = this.#text[this.#at];
    return char === '[' || char === '{';
  }

  #skipSpaces(at: number): void {
    while (this.#text[at] === ' ') at += 1;
    this.#at = at;
  }

  /** The rest of the line is empty, or a comment; a space has been before it. */
  #atNothing(): boolean {
    return this.#at === this.#end || this.#text[this.#at] === '#';
  }

  /** Where the key ends that begins here; `undefined` when there is none, or none of the usual. */
  #keyEnd(): number | undefined {
    const char = this.#text[this.#at];
    const pattern = char === '"' || char === "'" ? quotedKey : plainKey;
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return undefined;
    const end = pattern.lastIndex;
    return this.#text[end] === ':' && this.#isSpaceOrEnd(end + 1) ? end : undefined;
  }

  /** The key of this line; goes to what stands behind its colon. */
  #simpleKey(): string {
    const end = this.#keyEnd() ?? this.#unusual();
    const key = this.#key(this.#text.slice(this.#at, end));
    this.#skipSpaces(end + 1);
    return key;
  }

  /** `? key`, and `: value` on a line of its own: so programs write keys of more than 128 bytes. */
  #longKey(indent: number): string {
    this.#skipSpaces(this.#at + 1);
    const key =
      this.#text[this.#at] === '|' || this.#text[this.#at] === '>' ? this.#scalar(indent) : this.#keyLines(indent);
    if (this.#indent !== indent || this.#text[this.#at] !== ':' || !this.#isSpaceOrEnd(this.#at + 1)) this.#unusual();
    this.#skipSpaces(this.#at + 1);
    return typeof key === 'string' ? key : this.#unusual();
  }

  #keyLines(indent: number): string | undefined {
    const start = this.#at;
    let end = this.#end;
    for (this.#nextLine(); this.#indent > indent; this.#nextLine()) end = this.#end;
    return this.#rules.strictKey(this.#text.slice(start, end));
  }

  #key(written: string): string {
    const known = this.#keys.get(written);
    if (known !== undefined) return known;
    if (written.length > longestKey) this.#unusual();
    const quote = written[0];
    const isPlain = quote !== '"' && quote !== "'";
    const key = isPlain ? this.#rules.plainKey(written) : this.#unquoted(written, quote);
    if (key === undefined) return this.#unusual();
    this.#keys.set(written, key);
    return key;
  }

  /** A quoted text on one line. */
  #unquoted(written: string, quote: '"' | "'"): string {
    if (quote === "'") return written.slice(1, -1).replaceAll("''", "'");
    if (!written.includes('\\')) return written.slice(1, -1);
    if (likeJson.test(written)) return JSON.parse(written) as string;
    const value = this.#rules.strict(written);
    return typeof value === 'string' ? value : this.#unusual();
  }

  /** A value that begins on this line; goes on to the line after it. What goes on there, further in, fits nowhere. */
  #scalar(indent: number): Value {
    const char = this.#text[this.#at]!;
    if (char === '|') return this.#literal(indent);
    if (char === '>') return this.#strictBlock(indent);
    const isQuote = char === '"' || char === "'";
    const value = isQuote
      ? this.#quoted(char, indent)
      : char === '[' || char === '{'
        ? this.#flow()
        : this.#plain(indent);
    this.#nextLine();
    return value;
  }

  #quoted(quote: '"' | "'", indent: number): string {
    const text = this.#text;
    const pattern = quote === '"' ? doubleQuoted : singleQuoted;
    pattern.lastIndex = this.#at;
    if (!pattern.test(text)) this.#unusual();
    const written = text.slice(this.#at, pattern.lastIndex);
    const isLong = pattern.lastIndex > this.#end;
    this.#at = pattern.lastIndex;
    if (isLong) {
      // Whatever is not further in belongs to no scalar, unless it is blank.
      const isOutside = (line: string) => indentationOf(line) <= Math.min(indent, line.length - 1);
      if (written.split(lineEnd).some((line, index) => index > 0 && isOutside(line))) this.#unusual();
      const found = text.indexOf(lineEnd, this.#at);
      this.#end = found < 0 ? text.length : found;
    }
    if (this.#at < this.#end) {
      if (text[this.#at] !== ' ') this.#unusual();
      this.#skipSpaces(this.#at);
      if (!this.#atNothing()) this.#unusual();
    }
    if (!isLong) return this.#unquoted(written, quote);
    if (quote === '"' && written.includes('\\')) {
      const value = this.#rules.strict(written);
      return typeof value === 'string' ? value : this.#unusual();
    }
    const content = folded(written.slice(1, -1));
    return quote === "'" ? content.replaceAll("''", "'") : content;
  }

  /** The rest of the line without a comment and the spaces before it. */
  #rest(): string {
    const line = this.#text.slice(this.#at, this.#end);
    if (line.includes('\t')) this.#unusual();
    const comment = line.indexOf(' #');
    return line.slice(0, withoutSpaces(line, comment < 0 ? line.length : comment));
  }

  #plain(indent: number): Value {
    let written = this.#rest();
    const char = written[0]!;
    const isUsual =
      !indicators.has(char) || ((char === '-' || char === ':') && /[A-Za-z0-9_.-]/.test(written[1] ?? ''));
    if (!isUsual || written.includes(': ') || written.endsWith(':') || written === '<<') this.#unusual();
    while (this.#goesOn(indent)) {
      const line = this.#rest();
      if (line.includes(': ') || line.endsWith(':')) this.#unusual();
      written += ` ${line}`;
    }
    return this.#rules.plain(written);
  }

  /** Whether the plain scalar of this line goes on in the next one; goes there if it does. */
  #goesOn(indent: number): boolean {
    const text = this.#text;
    const start = this.#end + 1;
    if (start >= text.length) return false;
    let at = start;
    while (text[at] === ' ') at += 1;
    if (at - start <= indent || at === text.length || text[at] === lineEnd || text[at] === '#') return false;
    // A comment would have ended it.
    if (text.slice(this.#at, this.#end).includes(' #')) this.#unusual();
    const found = text.indexOf(lineEnd, at);
    this.#end = found < 0 ? text.length : found;
    this.#at = at;
    return true;
  }

  /** Brackets that close on the line. What stands in them has rules of its own: all but short lists are the strict reader's. */
  #flow(): Value {
    const rest = this.#rest();
    if (rest === '[]' || rest === '[ ]') return [];
    if (rest === '{}' || rest === '{ }') return new Map();
    if (shortList.test(rest)) return this.#shortList(rest);
    if (shortMap.test(rest)) return this.#shortMap(rest);
    // Names given elsewhere, and tags; or a comment that was none, inside quotes.
    if (/[&*!]/.test(rest) || !/[\]}]$/.test(rest)) this.#unusual();
    const value = this.#rules.strict(rest);
    return typeof value === 'object' && value !== null && Array.isArray(value) === (rest[0] === '[')
      ? value
      : this.#unusual();
  }

  #shortList(written: string): Value[] {
    return written
      .slice(1, -1)
      .split(',')
      .map((item) => this.#item(item.trim()));
  }

  #shortMap(written: string): GoMap {
    const map: GoMap = new Map();
    for (const [, key, item] of written.matchAll(eachPair))
      map.set(this.#key(key!), item!.startsWith('[') ? this.#shortList(item!) : this.#item(item!));
    return map;
  }

  #item(written: string): Value {
    return written.startsWith('"') || written.startsWith("'") ? written.slice(1, -1) : this.#rules.plain(written);
  }

  /** `|`, `|-` and `|+`: the lines below as they are, without the indentation of the first. */
  #literal(indent: number): string {
    const text = this.#text;
    const header = this.#rest();
    if (header !== '|' && header !== '|-') return this.#strictBlock(indent);
    const lines: string[] = [];
    let inner = -1;
    let blank = 0;
    let widestBlank = 0;
    while (this.#end < text.length) {
      const start = this.#end + 1;
      const found = text.indexOf(lineEnd, start);
      const end = found < 0 ? text.length : found;
      let at = start;
      while (at < end && text[at] === ' ' && (inner < 0 || at - start < inner)) at += 1;
      if (at === end) {
        blank += 1;
        widestBlank = Math.max(widestBlank, end - start);
      } else if (inner < 0 ? at - start > indent : at - start === inner) {
        if (inner < 0) {
          inner = at - start;
          if (widestBlank > inner || text[at] === '\t') this.#unusual();
        }
        for (; blank > 0; blank -= 1) lines.push('');
        lines.push(text.slice(at, end));
      } else break;
      this.#end = end;
    }
    // Without a line, readers differ in what is left.
    if (inner < 0) this.#unusual();
    const isCut = this.#end === text.length && blank === 0;
    this.#nextLine();
    const content = lines.join(lineEnd);
    return header === '|-' || isCut ? content : `${content}\n`;
  }

  /** `|2-`, `|+`, `>`: rare ones. Where they end is plain: the strict reader gets them alone, as the value of a key. */
  #strictBlock(indent: number): string {
    const text = this.#text;
    if (indent < 0) this.#unusual();
    const header = text.slice(this.#at, this.#end);
    const lines: string[] = [];
    while (this.#end < text.length) {
      const start = this.#end + 1;
      const found = text.indexOf(lineEnd, start);
      const end = found < 0 ? text.length : found;
      let at = start;
      while (text[at] === ' ') at += 1;
      if (at < end && at - start <= indent) break;
      lines.push(text.slice(Math.min(end, start + indent), end));
      this.#end = end;
    }
    const isCut = this.#end === text.length;
    this.#nextLine();
    const content = lines.join(lineEnd) + (isCut || lines.length === 0 ? '' : lineEnd);
    const block = this.#rules.strict(`x: ${header}\n${content}`);
    const value = isMap(block) && block.size === 1 ? block.get('x') : undefined;
    return typeof value === 'string' ? value : this.#unusual();
  }
}

/** The lines of a quoted text as one: a line break is a space, and every blank line after it a line break instead. */
function folded(text: string): string {
  const [first, ...rest] = text.split(lineEnd) as [string, ...string[]];
  let content = first.slice(0, withoutSpaces(first));
  let blank = 0;
  for (const [index, line] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const start = indentationOf(line);
    if (start === line.length && !isLast) {
      blank += 1;
      continue;
    }
    content += blank === 0 ? ' ' : lineEnd.repeat(blank);
    // Spaces before the closing quote belong to the text.
    content += line.slice(start, isLast ? line.length : withoutSpaces(line));
    blank = 0;
  }
  return content;
}

function indentationOf(line: string): number {
  let at = 0;
  while (line[at] === ' ') at += 1;
  return at;
}

/** Where a line ends that is cut at `end`, without the spaces before. */
function withoutSpaces(line: string, end = line.length): number {
  while (line[end - 1] === ' ') end -= 1;
  return end;
}
