import { bytesToText, textToBytes } from '../go/bytes.ts';
import { YamlError } from './yaml-error.ts';
import type { YamlDialect } from './resolve.ts';

/**
 * Cuts YAML into tokens as go-yaml's scanner does. It is no reader of YAML 1.2, nor quite of 1.1: a text in quotes goes on in any column, a
 * closing bracket may stand anywhere, and a key is a key because a colon follows it. What is refused, where, and in which words, is go-yaml's.
 */

export type TokenType =
  | 'stream end'
  | 'version directive'
  | 'tag directive'
  | 'document start'
  | 'document end'
  | 'block sequence start'
  | 'block mapping start'
  | 'block end'
  | 'flow sequence start'
  | 'flow sequence end'
  | 'flow mapping start'
  | 'flow mapping end'
  | 'block entry'
  | 'flow entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar';

export interface Token {
  readonly type: TokenType;
  /** Where it begins; the first line is 0. */
  readonly line: number;
  /** Of a scalar its content, of an anchor its name, of a tag its handle, of a version itself. */
  readonly value: string;
  /** Of a tag what stands behind its handle; of a directive what its handle stands for. */
  readonly suffix: string;
  /** A scalar without quotes that is no block. */
  readonly isPlain: boolean;
}

/** A place where a key may have begun. */
interface SimpleKey {
  possible: boolean;
  readonly required: boolean;
  readonly tokenNumber: number;
  readonly pos: number;
  readonly line: number;
  readonly column: number;
}

const longestSimpleKey = 1024;
/** Nesting that go-yaml refuses to follow. */
const deepest = 10_000;
/** go-yaml decodes its input so many bytes at a time, and complains of a whole block before it looks at it. */
const blockBytes = 512;

/** `--- `: so far go-yaml looks ahead before each token. */
const longestIndicator = 3;

const space = 0x20;
const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = 0xfeff;

const word = /[0-9A-Za-z_-]*/y;
const uriCharacters = /[0-9A-Za-z_;/?:@&=+$,.!~*'()[\]-]*/y;
/** What go-yaml calls printable, and stray bytes that belong to no character. */
const refused = new RegExp(
  [
    // oxlint-disable-next-line no-control-regex
    /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/,
    /[\ud800-\udbff](?![\udc00-\udfff])/,
    /(?<![\ud800-\udbff])[\udc00-\udfff]/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

const indicators = '-?:,[]{}#&*!|>\'"%@`';
const escapes = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);
const codeLengths = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

export class TokenScanner {
  readonly #text: string;
  readonly #dialect: YamlDialect;
  /** From here on the text cannot be read. */
  readonly #readable: number;
  readonly #unreadable: string;
  /** Behind the byte order mark is another. go-yaml looks for one before each line, but always in this place. */
  readonly #beginsWithMark: boolean;
  #pos = 0;
  #line = 0;
  /** What a column is counted from. */
  #lineStart = 0;
  readonly #tokens: Token[] = [];
  #head = 0;
  #parsed = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  #flowLevel = 0;
  #simpleKeyAllowed = true;
  readonly #simpleKeys: SimpleKey[] = [impossibleKey];
  /** Where in the list above the key is that begins with a token. */
  readonly #keyOfToken = new Map<number, number>();

  constructor(text: string, dialect: YamlDialect) {
    this.#text = text;
    this.#dialect = dialect;
    if (text.charCodeAt(0) === byteOrderMark) {
      this.#pos = 1;
      this.#lineStart = 1;
    }
    this.#beginsWithMark = this.#code() === byteOrderMark;
    const bad = refused.exec(text);
    this.#readable = bad ? blockStart(text, bad.index) : Number.POSITIVE_INFINITY;
    this.#unreadable = bad ? readerComplaint(text, bad.index) : '';
  }

  /** At the end there is always one more end. */
  peek(): Token {
    while (this.#needsMore()) this.#fetch();
    return this.#tokens[this.#head]!;
  }

  skip(): void {
    const token = this.peek();
    if (token.type === 'stream end') return;
    this.#head += 1;
    this.#parsed += 1;
    if (this.#head < mostPassedTokens) return;
    this.#tokens.splice(0, this.#head);
    this.#head = 0;
  }

  /**
   * A complaint in go-yaml's words. The scanner of v2 counts lines from one and its parser from nothing, and neither names the first line;
   * the line of v3 is the one where it happened.
   */
  complaint(problem: string, line: number, isScanner = false): YamlError {
    const counted = this.#dialect === 'v3' || (isScanner && line > 0) ? line + 1 : line;
    return new YamlError(`yaml: ${counted === 0 ? '' : `line ${counted}: `}${problem}`);
  }

  #fail(problem: string): never {
    this.#checkReadable();
    throw this.complaint(problem, this.#line, true);
  }

  #checkReadable(ahead = 0): void {
    if (this.#pos + ahead >= this.#readable) throw new YamlError(`yaml: ${this.#unreadable}`);
  }

  get #column(): number {
    return this.#pos - this.#lineStart;
  }

  /** Of the token that comes next. */
  get #nextNumber(): number {
    return this.#parsed + this.#tokens.length - this.#head;
  }

  #code(ahead = 0): number {
    return this.#text.charCodeAt(this.#pos + ahead);
  }

  /** Whether the first token, if there is one, may turn out to begin a key. */
  #needsMore(): boolean {
    if (this.#head === this.#tokens.length) return true;
    const at = this.#keyOfToken.get(this.#parsed);
    return at !== undefined && this.#isValid(this.#simpleKeys[at]!);
  }

  #push(type: TokenType, line: number, value = '', suffix = '', isPlain = false): void {
    this.#tokens.push({ type, line, value, suffix, isPlain });
  }

  #insert(at: number, type: TokenType, line: number): void {
    const token: Token = { type, line, value: '', suffix: '', isPlain: false };
    this.#tokens.splice(this.#head + at, 0, token);
  }

  #fetch(): void {
    this.#toNextToken();
    this.#unroll(this.#column);
    const code = this.#code();
    if (Number.isNaN(code)) return this.#fetchEnd();
    const char = this.#text[this.#pos]!;
    if (this.#column === 0) {
      if (char === '%') return this.#fetchDirective();
      if (this.#atMarker('---')) return this.#fetchMarker('document start');
      if (this.#atMarker('...')) return this.#fetchMarker('document end');
    }
    const isFlow = this.#flowLevel > 0;
    switch (char) {
      case '[':
        return this.#openFlow('flow sequence start');
      case '{':
        return this.#openFlow('flow mapping start');
      case ']':
        return this.#closeFlow('flow sequence end');
      case '}':
        return this.#closeFlow('flow mapping end');
      case ',':
        this.#removeSimpleKey();
        this.#simpleKeyAllowed = true;
        return this.#single('flow entry');
      case '*':
        return this.#fetchAnchor('alias');
      case '&':
        return this.#fetchAnchor('anchor');
      case '!':
        return this.#fetchTag();
      case "'":
      case '"':
        return this.#fetchQuoted(char);
      case '-':
        if (isBlankOrEnd(this.#code(1))) return this.#fetchBlockEntry();
        break;
      case '?':
        if (isFlow || isBlankOrEnd(this.#code(1))) return this.#fetchKey();
        break;
      case ':':
        if (isFlow || isBlankOrEnd(this.#code(1))) return this.#fetchValue();
        break;
      case '|':
      case '>':
        if (!isFlow) return this.#fetchBlockScalar(char === '|');
        break;
    }
    const beginsPlain = !isBlankOrEnd(code) && !indicators.includes(char);
    if (beginsPlain || char === '-' || (!isFlow && (char === '?' || char === ':'))) return this.#fetchPlain();
    this.#fail('found character that cannot start any token');
  }

  /** Passes space, comments and line breaks. A tab counts as space where no key may begin. */
  #toNextToken(): void {
    for (;;) {
      if (this.#column === 0 && this.#beginsWithMark) this.#pos += 1;
      const tabs = this.#flowLevel > 0 || !this.#simpleKeyAllowed;
      let code = this.#code();
      while (code === space || (tabs && code === tab)) {
        this.#pos += 1;
        code = this.#code();
      }
      if (code === 0x23) this.#passLine();
      this.#checkReadable();
      if (!isBreak(this.#code())) break;
      this.#passBreak();
      if (this.#flowLevel === 0) this.#simpleKeyAllowed = true;
    }
    this.#checkReadable(longestIndicator);
  }

  #passLine(): void {
    let code = this.#code();
    while (!isBreak(code) && !Number.isNaN(code)) {
      this.#pos += 1;
      code = this.#code();
    }
  }

  #passBlanks(): void {
    while (isBlank(this.#code())) this.#pos += 1;
  }

  /** Passes a line break, and answers what it is to the text it stands in. */
  #passBreak(): string {
    const code = this.#code();
    this.#pos += code === carriageReturn && this.#code(1) === newline ? 2 : 1;
    this.#line += 1;
    this.#lineStart = this.#pos;
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : '\n';
  }

  #atMarker(marker: string): boolean {
    return this.#text.startsWith(marker, this.#pos) && isBlankOrEnd(this.#code(3));
  }

  #isValid(key: SimpleKey): boolean {
    if (!key.possible) return false;
    if (key.line === this.#line && !this.#isTooLong(key)) return true;
    if (key.required) this.#fail("could not find expected ':'");
    key.possible = false;
    return false;
  }

  #isTooLong({ pos }: SimpleKey): boolean {
    if (this.#pos - pos <= longestSimpleKey) return false;
    return Array.from(this.#text.slice(pos, this.#pos)).length > longestSimpleKey;
  }

  #saveSimpleKey(): void {
    if (!this.#simpleKeyAllowed) return;
    this.#removeSimpleKey();
    const key: SimpleKey = {
      possible: true,
      required: this.#flowLevel === 0 && this.#indent === this.#column,
      tokenNumber: this.#nextNumber,
      pos: this.#pos,
      line: this.#line,
      column: this.#column,
    };
    this.#simpleKeys[this.#simpleKeys.length - 1] = key;
    this.#keyOfToken.set(key.tokenNumber, this.#simpleKeys.length - 1);
  }

  #removeSimpleKey(): void {
    const key = this.#simpleKeys.at(-1)!;
    if (!key.possible) return;
    if (key.required) this.#fail("could not find expected ':'");
    key.possible = false;
    this.#keyOfToken.delete(key.tokenNumber);
  }

  /** Begins a block where a line goes further in than the one around it. Behind `number` tokens, or at the end. */
  #roll(column: number, type: TokenType, line: number, number?: number): void {
    if (this.#flowLevel > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > deepest) this.#fail(`exceeded max depth of ${deepest}`);
    if (number === undefined) this.#push(type, line);
    else this.#insert(number - this.#parsed, type, line);
  }

  #unroll(column: number): void {
    if (this.#flowLevel > 0) return;
    while (this.#indent > column) {
      this.#push('block end', this.#line);
      this.#indent = this.#indents.pop()!;
    }
  }

  #leaveBlocks(): void {
    this.#unroll(-1);
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = false;
  }

  #fetchEnd(): void {
    // The end is a line of its own.
    if (this.#column !== 0) {
      this.#line += 1;
      this.#lineStart = this.#pos;
    }
    this.#leaveBlocks();
    this.#push('stream end', this.#line);
  }

  #fetchMarker(type: TokenType): void {
    this.#leaveBlocks();
    this.#push(type, this.#line);
    this.#pos += 3;
  }

  #single(type: TokenType): void {
    this.#push(type, this.#line);
    this.#pos += 1;
  }

  #openFlow(type: TokenType): void {
    this.#saveSimpleKey();
    this.#simpleKeys.push({ ...impossibleKey, tokenNumber: this.#nextNumber });
    this.#flowLevel += 1;
    if (this.#flowLevel > deepest) this.#fail(`exceeded max depth of ${deepest}`);
    this.#simpleKeyAllowed = true;
    this.#single(type);
  }

  #closeFlow(type: TokenType): void {
    this.#removeSimpleKey();
    if (this.#flowLevel > 0) {
      this.#flowLevel -= 1;
      // Of empty brackets that is the opening one: go-yaml forgets that they may be a key.
      this.#keyOfToken.delete(this.#simpleKeys.pop()!.tokenNumber);
    }
    this.#simpleKeyAllowed = false;
    this.#single(type);
  }

  #fetchBlockEntry(): void {
    if (this.#flowLevel === 0) {
      if (!this.#simpleKeyAllowed) this.#fail('block sequence entries are not allowed in this context');
      this.#roll(this.#column, 'block sequence start', this.#line);
    }
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = true;
    this.#single('block entry');
  }

  #fetchKey(): void {
    if (this.#flowLevel === 0) {
      if (!this.#simpleKeyAllowed) this.#fail('mapping keys are not allowed in this context');
      this.#roll(this.#column, 'block mapping start', this.#line);
    }
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = this.#flowLevel === 0;
    this.#single('key');
  }

  #fetchValue(): void {
    const key = this.#simpleKeys.at(-1)!;
    if (this.#isValid(key)) {
      this.#insert(key.tokenNumber - this.#parsed, 'key', key.line);
      this.#roll(key.column, 'block mapping start', key.line, key.tokenNumber);
      key.possible = false;
      this.#keyOfToken.delete(key.tokenNumber);
      this.#simpleKeyAllowed = false;
    } else {
      if (this.#flowLevel === 0) {
        if (!this.#simpleKeyAllowed) this.#fail('mapping values are not allowed in this context');
        this.#roll(this.#column, 'block mapping start', this.#line);
      }
      this.#simpleKeyAllowed = this.#flowLevel === 0;
    }
    this.#single('value');
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#pos;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#pos += found.length;
    return found;
  }

  #fetchAnchor(type: 'alias' | 'anchor'): void {
    this.#saveSimpleKey();
    this.#simpleKeyAllowed = false;
    const line = this.#line;
    this.#pos += 1;
    const name = this.#match(word);
    const isEnded = isBlankOrEnd(this.#code()) || '?:,]}%@`'.includes(this.#text[this.#pos]!);
    if (name === '' || !isEnded) this.#fail('did not find expected alphabetic or numeric character');
    this.#push(type, line, name);
  }

  #fetchDirective(): void {
    this.#leaveBlocks();
    const line = this.#line;
    this.#pos += 1;
    const name = this.#match(word);
    if (name === '') this.#fail('could not find expected directive name');
    if (!isBlankOrEnd(this.#code())) this.#fail('found unexpected non-alphabetical character');
    if (name !== 'YAML' && name !== 'TAG') this.#fail('found unknown directive name');
    this.#passBlanks();
    if (name === 'YAML') {
      const major = this.#versionNumber();
      if (this.#text[this.#pos] !== '.') this.#fail("did not find expected digit or '.' character");
      this.#pos += 1;
      this.#push('version directive', line, `${major}.${this.#versionNumber()}`);
    } else {
      const handle = this.#tagHandle(true);
      if (!isBlank(this.#code())) this.#fail('did not find expected whitespace');
      this.#passBlanks();
      const prefix = this.#tagUri('');
      if (!isBlankOrEnd(this.#code())) this.#fail('did not find expected whitespace or line break');
      this.#push('tag directive', line, handle, prefix);
    }
    this.#passLineEnd();
  }

  /** Space, a comment and the line break, and nothing else. */
  #passLineEnd(): void {
    this.#passBlanks();
    if (this.#text[this.#pos] === '#') this.#passLine();
    const code = this.#code();
    if (isBreak(code)) this.#passBreak();
    else if (!Number.isNaN(code)) this.#fail('did not find expected comment or line break');
  }

  #versionNumber(): number {
    const start = this.#pos;
    while (isDigit(this.#code())) {
      if (this.#pos - start === 2) this.#fail('found extremely long version number');
      this.#pos += 1;
    }
    if (this.#pos === start) this.#fail('did not find expected version number');
    return Number(this.#text.slice(start, this.#pos));
  }

  #fetchTag(): void {
    this.#saveSimpleKey();
    this.#simpleKeyAllowed = false;
    const line = this.#line;
    let handle = '';
    let suffix: string;
    if (this.#text[this.#pos + 1] === '<') {
      this.#pos += 2;
      suffix = this.#tagUri('');
      if (this.#text[this.#pos] !== '>') this.#fail("did not find the expected '>'");
      this.#pos += 1;
    } else {
      handle = this.#tagHandle(false);
      if (handle.length > 1 && handle.endsWith('!')) suffix = this.#tagUri('');
      else {
        suffix = this.#tagUri(handle);
        handle = '!';
        if (suffix === '') [handle, suffix] = ['', '!'];
      }
    }
    if (!isBlankOrEnd(this.#code())) this.#fail('did not find expected whitespace or line break');
    this.#push('tag', line, handle, suffix);
  }

  #tagHandle(isDirective: boolean): string {
    if (this.#text[this.#pos] !== '!') this.#fail("did not find expected '!'");
    const start = this.#pos;
    this.#pos += 1;
    this.#match(word);
    if (this.#text[this.#pos] === '!') this.#pos += 1;
    else if (isDirective && this.#pos - start > 1) this.#fail("did not find expected '!'");
    return this.#text.slice(start, this.#pos);
  }

  /** `head` is what has been read of it already, with the exclamation mark before it. */
  #tagUri(head: string): string {
    let uri = head.slice(1);
    const start = this.#pos;
    for (;;) {
      uri += this.#match(uriCharacters);
      if (this.#text[this.#pos] !== '%') break;
      const octets = /(?:%[0-9A-Fa-f]{2})+/y;
      const written = this.#match(octets);
      if (written === '') this.#fail('did not find URI escaped octet');
      uri += Buffer.from(written.replaceAll('%', ''), 'hex').toString('utf8');
    }
    if (this.#pos === start && head === '') this.#fail('did not find expected tag URI');
    return uri;
  }

  #fetchQuoted(quote: "'" | '"'): void {
    this.#saveSimpleKey();
    this.#simpleKeyAllowed = false;
    const line = this.#line;
    this.#push('scalar', line, this.#quoted(quote));
  }

  #quoted(quote: "'" | '"'): string {
    const text = this.#text;
    this.#pos += 1;
    let content = '';
    for (;;) {
      if (this.#column === 0 && (this.#atMarker('---') || this.#atMarker('...')))
        this.#fail('found unexpected document indicator');
      if (Number.isNaN(this.#code())) this.#fail('found unexpected end of stream');
      let start = this.#pos;
      /** A line break was escaped. */
      let isJoined = false;
      for (let code = this.#code(); !isBlankOrEnd(code); code = this.#code()) {
        const char = text[this.#pos]!;
        if (char === quote) {
          if (quote === '"' || text[this.#pos + 1] !== quote) break;
          content += text.slice(start, this.#pos + 1);
          this.#pos += 2;
          start = this.#pos;
        } else if (char === '\\' && quote === '"') {
          content += text.slice(start, this.#pos);
          if (isBreak(this.#code(1))) {
            this.#pos += 1;
            this.#passBreak();
            isJoined = true;
            start = this.#pos;
            break;
          }
          content += this.#escaped();
          start = this.#pos;
        } else this.#pos += 1;
      }
      content += text.slice(start, this.#pos);
      if (text[this.#pos] === quote) break;
      content += this.#quotedSpace(isJoined);
    }
    this.#pos += 1;
    return content;
  }

  /** Spaces as they are, or a line break as a space; of several each but the first. */
  #quotedSpace(isJoined: boolean): string {
    const start = this.#pos;
    let end = start;
    let first: string | undefined = isJoined ? '' : undefined;
    let more = '';
    for (let code = this.#code(); isBlank(code) || isBreak(code); code = this.#code()) {
      if (isBlank(code)) {
        this.#pos += 1;
        if (first === undefined) end = this.#pos;
      } else if (first === undefined) first = this.#passBreak();
      else more += this.#passBreak();
    }
    if (first === undefined) return this.#text.slice(start, end);
    if (first === '\n') return more === '' ? ' ' : more;
    return first + more;
  }

  #escaped(): string {
    const char = this.#text[this.#pos + 1] ?? '';
    const plain = escapes.get(char);
    if (plain !== undefined) {
      this.#pos += 2;
      return plain;
    }
    const length = codeLengths.get(char);
    if (length === undefined) this.#fail('found unknown escape character');
    this.#pos += 2;
    const digits = this.#text.slice(this.#pos, this.#pos + length);
    if (digits.length < length || !/^[0-9A-Fa-f]+$/.test(digits)) this.#fail('did not find expected hexdecimal number');
    const code = Number.parseInt(digits, 16);
    if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
      this.#fail('found invalid Unicode character escape code');
    this.#pos += length;
    return String.fromCodePoint(code);
  }

  #fetchBlockScalar(isLiteral: boolean): void {
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = true;
    const line = this.#line;
    this.#push('scalar', line, this.#blockScalar(isLiteral));
  }

  #blockScalar(isLiteral: boolean): string {
    const text = this.#text;
    this.#pos += 1;
    let chomping = this.#chomping();
    let indent = 0;
    if (isDigit(this.#code())) {
      const increment = this.#code() - 0x30;
      if (increment === 0) this.#fail('found an indentation indicator equal to 0');
      this.#pos += 1;
      indent = Math.max(this.#indent, 0) + increment;
      if (chomping === '') chomping = this.#chomping();
    }
    this.#passLineEnd();

    let content = '';
    let leading = '';
    let wasBlank = false;
    let breaks: string;
    ({ indent, breaks } = this.#blockBreaks(indent));
    while (this.#column === indent && !Number.isNaN(this.#code())) {
      const isBlankLine = isBlank(this.#code());
      if (!isLiteral && leading === '\n' && !wasBlank && !isBlankLine) content += breaks === '' ? ' ' : breaks;
      else content += leading + breaks;
      wasBlank = isBlankLine;
      const start = this.#pos;
      this.#passLine();
      content += text.slice(start, this.#pos);
      leading = isBreak(this.#code()) ? this.#passBreak() : '';
      ({ breaks } = this.#blockBreaks(indent));
    }
    if (chomping !== '-') content += leading;
    return chomping === '+' ? content + breaks : content;
  }

  #chomping(): string {
    const char = this.#text[this.#pos] ?? '';
    if (char !== '+' && char !== '-') return '';
    this.#pos += 1;
    return char;
  }

  /** Indentation and empty lines, up to one that says something. Finds out how far in the block is, if that is not known. */
  #blockBreaks(known: number): { indent: number; breaks: string } {
    let breaks = '';
    let widest = 0;
    const isInside = () => known === 0 || this.#column < known;
    for (;;) {
      while (isInside() && this.#code() === space) this.#pos += 1;
      widest = Math.max(widest, this.#column);
      if (isInside() && this.#code() === tab)
        this.#fail('found a tab character where an indentation space is expected');
      if (!isBreak(this.#code())) break;
      breaks += this.#passBreak();
    }
    return { indent: known === 0 ? Math.max(widest, this.#indent + 1, 1) : known, breaks };
  }

  #fetchPlain(): void {
    this.#saveSimpleKey();
    this.#simpleKeyAllowed = false;
    const line = this.#line;
    this.#push('scalar', line, this.#plain(), '', true);
  }

  #plain(): string {
    const text = this.#text;
    const isFlow = this.#flowLevel > 0;
    const indent = this.#indent + 1;
    let content = '';
    let between = '';
    let isBroken = false;
    for (;;) {
      if (this.#column === 0 && (this.#atMarker('---') || this.#atMarker('...'))) break;
      if (text[this.#pos] === '#') break;
      const start = this.#pos;
      for (let code = this.#code(); !isBlankOrEnd(code); code = this.#code()) {
        if (code === 0x3a && isBlankOrEnd(this.#code(1))) break;
        if (isFlow && ',?[]{}'.includes(text[this.#pos]!)) break;
        this.#pos += 1;
      }
      if (this.#pos > start) {
        content += between + text.slice(start, this.#pos);
        between = '';
        isBroken = false;
      }
      const gap = this.#plainGap(indent);
      if (gap === undefined) break;
      ({ between, isBroken } = gap);
      if (!isFlow && this.#column < indent) break;
    }
    if (isBroken) this.#simpleKeyAllowed = true;
    return content;
  }

  /** What stands between two words; nothing when the scalar ends here. */
  #plainGap(indent: number): { between: string; isBroken: boolean } | undefined {
    const start = this.#pos;
    let code = this.#code();
    if (!isBlank(code) && !isBreak(code)) return undefined;
    let end = start;
    let first: string | undefined;
    let more = '';
    for (; isBlank(code) || isBreak(code); code = this.#code()) {
      if (isBreak(code)) {
        if (first === undefined) first = this.#passBreak();
        else more += this.#passBreak();
        continue;
      }
      if (first !== undefined && code === tab && this.#column < indent)
        this.#fail('found a tab character that violates indentation');
      this.#pos += 1;
      if (first === undefined) end = this.#pos;
    }
    if (first === undefined) return { between: this.#text.slice(start, end), isBroken: false };
    const folded = first === '\n' ? (more === '' ? ' ' : more) : first + more;
    return { between: folded, isBroken: true };
  }
}

/** Tokens that are kept behind the one that is looked at. */
const mostPassedTokens = 1000;

const impossibleKey: SimpleKey = { possible: false, required: false, tokenNumber: 0, pos: 0, line: 0, column: 0 };

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

function isBreak(code: number): boolean {
  return code === newline || code === carriageReturn || code === 0x85 || code === 0x2028 || code === 0x2029;
}

/** `NaN` is what stands behind the end. */
function isBlankOrEnd(code: number): boolean {
  return isBlank(code) || isBreak(code) || Number.isNaN(code);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Where the block begins that a character stands in. */
function blockStart(text: string, index: number): number {
  const bytes = textToBytes(text.slice(0, index));
  let end = bytes.length - (bytes.length % blockBytes);
  // A character that a block cuts is decoded with the next one.
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytesToText(bytes.subarray(0, end)).length;
}

function readerComplaint(text: string, index: number): string {
  const code = text.charCodeAt(index);
  if (code < 0xd800 || code > 0xdfff) return 'control characters are not allowed';
  const byte = code - 0xdc00;
  const isLeading = (byte >= 0xc2 && byte <= 0xf4) || byte === 0xc0 || byte === 0xc1;
  if (!isLeading) return 'invalid leading UTF-8 octet';
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
  return index + length > text.length ? 'incomplete UTF-8 octet sequence' : 'invalid trailing UTF-8 octet';
}
