import { runeCount, runes } from '../go/bytes.ts';
import type { YamlDialect } from './resolve.ts';

/** How go-yaml writes one string: which style it chooses, and where it breaks lines. */

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal';

export interface ScalarLayout {
  /** Column of continued lines. */
  readonly indent: number;
  /** Columns per level. */
  readonly step: number;
  /** Column the scalar starts at. */
  readonly column: number;
  /** Lines are folded after this column. */
  readonly width: number;
}

interface Analysis {
  readonly plainAllowed: boolean;
  readonly singleAllowed: boolean;
  readonly literalAllowed: boolean;
  readonly multiline: boolean;
}

const simple = /^(?!\.\.\.)[A-Za-z0-9_/.][A-Za-z0-9_/.-]*$/;
const plainOnly: Analysis = { plainAllowed: true, singleAllowed: true, literalAllowed: true, multiline: false };
const startIndicator = new Set(runes('#,[]{}&*!|>\'"%@`'));

export function scalarStyle(
  text: string,
  { quoted, isKey, dialect }: { quoted: boolean; isKey: boolean; dialect: YamlDialect },
): ScalarStyle {
  const analysis = simple.test(text) ? plainOnly : usual.test(text) ? analyseUsual(text) : analyse(text, dialect);
  const wanted: ScalarStyle = text.includes('\n') ? 'literal' : quoted ? 'double' : 'plain';
  if (isKey && analysis.multiline) return 'double';
  if (wanted === 'literal') return !analysis.literalAllowed || isKey ? 'double' : 'literal';
  if (wanted === 'double') return 'double';
  const plain = analysis.plainAllowed && !(text === '' && isKey);
  if (plain) return 'plain';
  return analysis.singleAllowed ? 'single' : 'double';
}

function isSpace(char: string | undefined): boolean {
  return char === ' ';
}

function isBreak(char: string | undefined): boolean {
  return char === '\n' || char === '\r' || char === '\u0085' || char === '\u2028' || char === '\u2029';
}

function isBlankOrEnd(char: string | undefined): boolean {
  return char === undefined || char === ' ' || char === '\t' || isBreak(char);
}

/** go-yaml knows no characters beyond the basic plane. */
function isPrintable(char: string): boolean {
  const code = char.codePointAt(0)!;
  if (code === 0x0a || (code >= 0x20 && code <= 0x7e)) return true;
  if (code < 0xa0 || code === 0xfeff || code === 0xfffe || code === 0xffff) return false;
  if (code >= 0xd800 && code <= 0xdfff) return false;
  return code <= 0xffff;
}

/** Texts of ASCII with nothing to escape: what is found out about others character by character, patterns tell of these. */
const usual = /^[\n\x20-\x7e]+$/;
const indicator = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?: |$))|:(?: |$)| #/;

export function analyseUsual(text: string): Analysis {
  const endsWithSpace = text.endsWith(' ');
  if (!text.includes('\n')) {
    const plainAllowed = !endsWithSpace && !text.startsWith(' ') && !indicator.test(text);
    return { plainAllowed, singleAllowed: true, literalAllowed: !endsWithSpace, multiline: false };
  }
  const broken = text.includes(' \n');
  return {
    plainAllowed: false,
    singleAllowed: !broken && !text.includes('\n '),
    literalAllowed: !broken && !endsWithSpace,
    multiline: true,
  };
}

export function analyse(text: string, dialect: YamlDialect): Analysis {
  if (text === '') return { plainAllowed: true, singleAllowed: true, literalAllowed: false, multiline: false };
  const chars = runes(text);
  const last = chars.length - 1;
  let indicators = text.startsWith('---') || text.startsWith('...');
  let specials = false;
  let tabs = false;
  let lineBreaks = false;
  let breakThenSpace = false;
  let spaceThenBreak = false;
  let afterSpace = false;
  let afterBreak = false;
  let afterBlank = true;
  for (const [index, char] of chars.entries()) {
    const beforeBlank = isBlankOrEnd(chars[index + 1]);
    if (index === 0) {
      if (startIndicator.has(char)) indicators = true;
      else if ((char === '?' || char === ':' || char === '-') && beforeBlank) indicators = true;
    } else if (char === ':' && beforeBlank) indicators = true;
    else if (char === '#' && afterBlank) indicators = true;
    if (char === '\t' && dialect === 'v3') tabs = true;
    else if (!isPrintable(char)) specials = true;
    if (isSpace(char)) {
      if (afterBreak) breakThenSpace = true;
      afterSpace = true;
      afterBreak = false;
    } else if (isBreak(char)) {
      lineBreaks = true;
      if (afterSpace) spaceThenBreak = true;
      afterSpace = false;
      afterBreak = true;
    } else {
      afterSpace = false;
      afterBreak = false;
    }
    afterBlank = isBlankOrEnd(char);
  }
  const edges = [chars[0], chars[last]];
  const edgy = edges.some((char) => isSpace(char) || isBreak(char));
  const broken = spaceThenBreak || specials;
  return {
    plainAllowed: !edgy && !breakThenSpace && !broken && !tabs && !lineBreaks && !indicators,
    singleAllowed: !breakThenSpace && !broken && !tabs,
    literalAllowed: !isSpace(chars[last]) && !broken,
    multiline: lineBreaks,
  };
}

export function writePlain(text: string, layout: ScalarLayout): string {
  if (layout.column + text.length <= layout.width) return text;
  return fold(text, layout, (chars, index) => !isSpace(chars[index + 1]));
}

export function writeSingleQuoted(text: string, layout: ScalarLayout): string {
  const body = fold(
    text,
    { ...layout, column: layout.column + 1 },
    (chars, index) => index > 0 && index < chars.length - 1 && !isSpace(chars[index + 1]),
    (char) => (char === "'" ? "''" : char),
  );
  return `'${body}'`;
}

/** Puts line breaks where a space stands beyond the width. */
function fold(
  text: string,
  layout: ScalarLayout,
  mayBreak: (chars: readonly string[], index: number) => boolean,
  write: (char: string) => string = (char) => char,
): string {
  const chars = runes(text);
  const newLine = `\n${' '.repeat(layout.indent)}`;
  let folded = '';
  let { column } = layout;
  let spaces = false;
  let broken = false;
  for (const [index, char] of chars.entries()) {
    if (isBreak(char)) {
      folded += char;
      broken = true;
      continue;
    }
    if (broken) {
      folded += ' '.repeat(layout.indent);
      column = layout.indent;
      broken = false;
    }
    if (isSpace(char)) {
      if (!spaces && column > layout.width && mayBreak(chars, index)) {
        folded += newLine;
        column = layout.indent;
      } else {
        folded += char;
        column += 1;
      }
      spaces = true;
      continue;
    }
    const written = write(char);
    folded += written;
    column += runeCount(written);
    spaces = false;
  }
  return folded;
}

const escapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\u0085': '\\N',
  '\u00a0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function escapeOf(char: string, always: boolean): string | undefined {
  const mustEscape = always || !isPrintable(char) || isBreak(char) || char === '"' || char === '\\';
  if (!mustEscape) return undefined;
  const known = escapes[char];
  if (known !== undefined) return known;
  const code = char.codePointAt(0)!;
  const digits = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${digits.padStart(4, '0')}`;
  return `\\U${digits.padStart(8, '0')}`;
}

export function writeDoubleQuoted(text: string, layout: ScalarLayout): string {
  const chars = runes(text);
  const newLine = `\n${' '.repeat(layout.indent)}`;
  // go-yaml looks for the mark at the beginning of the text, whichever character it is at.
  const always = chars[0] === '\ufeff';
  let body = '';
  let column = layout.column + 1;
  let spaces = false;
  for (const [index, char] of chars.entries()) {
    const escaped = escapeOf(char, always);
    if (escaped !== undefined) {
      body += escaped;
      column += escaped.length;
      spaces = false;
    } else if (isSpace(char)) {
      if (!spaces && column > layout.width && index > 0 && index < chars.length - 1) {
        body += newLine;
        column = layout.indent;
        if (isSpace(chars[index + 1])) {
          body += '\\';
          column += 1;
        }
      } else {
        body += char;
        column += 1;
      }
      spaces = true;
    } else {
      body += char;
      column += 1;
      spaces = false;
    }
  }
  return `"${body}"`;
}

export function writeLiteral(text: string, layout: ScalarLayout): string {
  const indent = ' '.repeat(layout.indent);
  const hint = isSpace(text[0]) || isBreak(text[0]) ? String(layout.step) : '';
  const endsWithBreak = isBreak(text.at(-1));
  const keeps = endsWithBreak && (text.length === 1 || isBreak(text.at(-2)));
  const chomp = endsWithBreak ? (keeps ? '+' : '') : '-';
  // With `+` every break is part of the text, the last one included.
  const written = keeps ? text : text.replace(/\n$/, '');
  return `|${hint}${chomp}\n${written.replaceAll(lineStart, indent)}`;
}

/** Every break begins a line, but only one that says something is indented. */
const lineStart = /(?<![^\n\u2028\u2029])(?=[^\n\u2028\u2029])/g;
