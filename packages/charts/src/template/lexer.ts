import { quote } from '../go/quote.ts';

/** Cuts a Go template into tokens. The rules, and the texts of the complaints, are those of `text/template/parse`. */

export type TokenType =
  | 'error'
  | 'eof'
  | 'text'
  | 'leftDelim'
  | 'rightDelim'
  | 'assign'
  | 'declare'
  | 'pipe'
  | 'leftParen'
  | 'rightParen'
  | 'char'
  | 'string'
  | 'rawString'
  | 'charConstant'
  | 'number'
  | 'complex'
  | 'variable'
  | 'field'
  | 'dot'
  | 'bool'
  | 'identifier'
  | 'nil'
  | 'keyword';

export interface Token {
  readonly type: TokenType;
  readonly value: string;
  /** Offset in the text, in UTF-16 units. */
  readonly pos: number;
  /** Whether space stands before it, inside an action. To Go that is a token of its own, and nearly every second one. */
  readonly spaced: boolean;
}

const keywords = new Set(['block', 'break', 'continue', 'define', 'else', 'end', 'if', 'range', 'template', 'with']);

const asciiWord = /\w*/y;
const quoted = /"(?:[^"\\\n]|\\[^\n])*"/suy;
const rawQuoted = /`[^`]*`/y;
const charConstant = /'(?:[^'\\\n]|\\[^\n])*'/suy;
const numberPattern =
  /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;

/** Cuts a text into tokens, an action or the text before the next one at a time. */
export class Lexer {
  readonly #text: string;
  /** The tokens of the action that is being read, from its delimiter on, and of the text before it. */
  readonly tokens: Token[] = [];
  /** How many tokens came before those. */
  dropped = 0;
  #pos = 0;
  /** Space was passed since the last token. */
  #spaced = false;
  #inAction = false;
  #ended = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** Where the action begins that is being read or comes next, behind its delimiter. */
  actionStart = 0;

  /** Adds tokens, if there are more. Those of an earlier action are dropped. */
  more(): void {
    if (this.#ended) return;
    if (this.#inAction) {
      this.#inAction = false;
      this.#ended = !this.#action();
    } else {
      this.dropped += this.tokens.length;
      this.tokens.length = 0;
      this.#inAction = this.#textUntilAction();
      this.#ended = !this.#inAction;
    }
  }

  /** Passes the action that comes next, whose closing delimiter stands at `end`. */
  skipAction(end: number): void {
    const text = this.#text;
    const trims = text[end - 1] === '-' && isSpace(text[end - 2]);
    this.#pos = trims ? passSpaces(text, end + 2) : end + 2;
    this.#inAction = false;
  }

  #emit(type: TokenType, start: number, end = this.#pos): void {
    this.#push(type, this.#text.slice(start, end), start);
  }

  #push(type: TokenType, value: string, pos: number): void {
    this.tokens.push({ type, value, pos, spaced: this.#spaced });
    this.#spaced = false;
  }

  /** Ends the stream: after an error there is only the end. */
  #fail(message: string, start: number): false {
    this.#push('error', message, start);
    this.#push('eof', 'EOF', 0);
    return false;
  }

  /** Text, and comments, up to the next action. False at the end. */
  #textUntilAction(): boolean {
    const text = this.#text;
    let start = this.#pos;
    for (;;) {
      const open = text.indexOf('{{', start);
      if (open < 0) {
        this.#pos = text.length;
        if (start < text.length) this.#emit('text', start);
        this.#push('eof', 'EOF', text.length);
        return false;
      }
      const trims = text[open + 2] === '-' && isSpace(text[open + 3]);
      if (open > start) {
        let end = open;
        if (trims) while (end > start && isSpace(text[end - 1])) end -= 1;
        if (end > start) this.#emit('text', start, end);
      }
      const inside = open + 2 + (trims ? 2 : 0);
      if (!text.startsWith('/*', inside)) {
        this.#push('leftDelim', '{{', open);
        this.#pos = inside;
        this.actionStart = inside;
        return true;
      }
      const close = text.indexOf('*/', inside + 2);
      if (close < 0) return this.#fail('unclosed comment', inside);
      this.#pos = close + 2;
      const end = this.#rightDelim();
      if (end === undefined) return this.#fail('comment ends before closing delimiter', inside);
      start = end.next;
    }
  }

  /** The closing delimiter at the present place, and where the text after it begins. */
  #rightDelim(): { start: number; next: number } | undefined {
    const text = this.#text;
    const char = text[this.#pos];
    if (isSpace(char) && text.startsWith('-}}', this.#pos + 1)) {
      return { start: this.#pos + 2, next: passSpaces(text, this.#pos + 4) };
    }
    if (char === '}' && text[this.#pos + 1] === '}') return { start: this.#pos, next: this.#pos + 2 };
    return undefined;
  }

  /** Everything between the delimiters. False when the stream ended. */
  #action(): boolean {
    const text = this.#text;
    let depth = 0;
    for (;;) {
      const start = this.#pos;
      const char = text[start];
      const isBlank = isSpace(char);
      const delim = isBlank || char === '}' ? this.#rightDelim() : undefined;
      if (delim) {
        if (depth > 0) return this.#fail('unclosed left paren', start);
        this.#push('rightDelim', '}}', delim.start);
        this.#pos = delim.next;
        return true;
      }
      if (char === undefined) return this.#fail('unclosed action', start);
      if (isBlank) {
        const end = passSpaces(text, start);
        // The last space belongs to a trim marker that follows.
        this.#pos = text.startsWith('-}}', end) ? end - 1 : end;
        if (this.#pos > start) this.#spaced = true;
        continue;
      }
      if (char === '(') depth += 1;
      if (char === ')' && depth === 0) return this.#fail('unexpected right paren', start);
      if (char === ')') depth -= 1;
      if (!this.#token(char, start)) return false;
    }
  }

  #token(char: string, start: number): boolean {
    const text = this.#text;
    this.#pos = start + 1;
    switch (char) {
      case '=':
        return this.#done('assign', start);
      case ':':
        if (text[start + 1] !== '=') return this.#fail('expected :=', start);
        this.#pos = start + 2;
        return this.#done('declare', start);
      case '|':
        return this.#done('pipe', start);
      case '(':
        return this.#done('leftParen', start);
      case ')':
        return this.#done('rightParen', start);
      case '"':
        return this.#match(quoted, 'string', start) || this.#fail('unterminated quoted string', start);
      case '`':
        return this.#match(rawQuoted, 'rawString', start) || this.#fail('unterminated raw quoted string', start);
      case "'":
        return this.#match(charConstant, 'charConstant', start) || this.#fail('unterminated character constant', start);
      case '$':
        return this.#fieldOrVariable('variable', start);
      case '.':
        if (!isDigit(text[start + 1])) return this.#fieldOrVariable('field', start);
        return this.#number(start);
      case '+':
      case '-':
        return this.#number(start);
    }
    if (isDigit(char)) return this.#number(start);
    const length = this.#wordLength(start);
    if (length > 0) return this.#identifier(start, length);
    if (char >= ' ' && char <= '~') return this.#done('char', start);
    return this.#fail(`unrecognized character in action: ${codePoint(text, start)}`, start);
  }

  #done(type: TokenType, start: number): true {
    this.#emit(type, start);
    return true;
  }

  #match(pattern: RegExp, type: TokenType, start: number): boolean {
    pattern.lastIndex = start;
    if (!pattern.test(this.#text)) return false;
    this.#pos = pattern.lastIndex;
    return this.#done(type, start);
  }

  #wordLength(start: number): number {
    const text = this.#text;
    asciiWord.lastIndex = start;
    asciiWord.test(text);
    const end = asciiWord.lastIndex;
    if (!(text.charCodeAt(end) > lastAscii)) return end - start;
    // Letters of the whole world: rare, and the table behind this pattern takes long to make.
    const word = /[\p{L}\p{Nd}_]*/uy;
    word.lastIndex = end;
    word.test(text);
    return Math.max(word.lastIndex, end) - start;
  }

  #atTerminator(): boolean {
    const char = this.#text[this.#pos];
    if (char === undefined || isSpace(char) || '.,|:)('.includes(char)) return true;
    return this.#text.startsWith('}}', this.#pos);
  }

  #badCharacter(start: number): false {
    return this.#fail(`bad character ${codePoint(this.#text, this.#pos)}`, start);
  }

  #fieldOrVariable(type: 'field' | 'variable', start: number): boolean {
    if (this.#atTerminator()) return this.#done(type === 'variable' ? 'variable' : 'dot', start);
    this.#pos += this.#wordLength(this.#pos);
    return this.#atTerminator() ? this.#done(type, start) : this.#badCharacter(start);
  }

  #identifier(start: number, length: number): boolean {
    this.#pos = start + length;
    if (!this.#atTerminator()) return this.#badCharacter(start);
    const name = this.#text.slice(start, this.#pos);
    this.#push(typeOfWord(name), name, start);
    return true;
  }

  #number(start: number): boolean {
    if (!this.#scanNumber(start))
      return this.#fail(`bad number syntax: ${quote(this.#text.slice(start, this.#pos))}`, start);
    const sign = this.#text[this.#pos];
    if (sign !== '+' && sign !== '-') return this.#done('number', start);
    if (!this.#scanNumber(this.#pos) || this.#text[this.#pos - 1] !== 'i')
      return this.#fail(`bad number syntax: ${quote(this.#text.slice(start, this.#pos))}`, start);
    return this.#done('complex', start);
  }

  #scanNumber(start: number): boolean {
    numberPattern.lastIndex = start;
    numberPattern.test(this.#text);
    this.#pos = Math.max(numberPattern.lastIndex, start);
    if (this.#wordLength(this.#pos) === 0) return true;
    this.#pos += 1;
    return false;
  }
}

function typeOfWord(word: string): TokenType {
  if (keywords.has(word)) return 'keyword';
  if (word === 'true' || word === 'false') return 'bool';
  return word === 'nil' ? 'nil' : 'identifier';
}

const lastAscii = 0x7f;

function passSpaces(text: string, start: number): number {
  let end = start;
  while (isSpace(text[end])) end += 1;
  return end;
}

function isSpace(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '\n';
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= '0' && char <= '9';
}

/** `%#U` */
function codePoint(text: string, pos: number): string {
  const code = text.codePointAt(pos);
  if (code === undefined) return 'U+FFFFFFFFFFFFFFFF';
  const char = String.fromCodePoint(code);
  const shown = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(char) ? ` '${char}'` : '';
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}${shown}`;
}
