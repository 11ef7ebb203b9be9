import { runes, withReplacements } from '../go/bytes.ts';

/** How sprig's string libraries see words and letters. */

// Patterns with letters of the whole world stand in functions: V8 makes their tables when it first comes to them, which takes a while.
const isUpper = (char: string): boolean => /^\p{Lu}$/u.test(char);
const isTitle = (char: string): boolean => /^\p{Lt}$/u.test(char);
const isLower = (char: string): boolean => /^\p{Ll}$/u.test(char);
/** Go's `unicode.IsSpace`: JavaScript's also has the byte order mark, Go's has NEL. */
const space = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/u;
const connector = /^[-_\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/u;

/** Changes a text character by character; a byte that is none comes out as U+FFFD. */
export function mapRunes(text: string, change: (char: string) => string): string {
  return withReplacements(text).replace(/./gsu, change);
}

/** The first letter of each word in title case, as Go's `strings.Title`. */
export function titleCase(text: string): string {
  let afterSeparator = true;
  let result = '';
  for (const char of withReplacements(text)) {
    result += afterSeparator ? titleRune(char) : char;
    afterSeparator = isSeparator(char);
  }
  return result;
}

function isSeparator(char: string): boolean {
  if (char <= '\x7f') return !/[A-Za-z0-9_]/.test(char);
  return !/[\p{L}\p{Nd}]/u.test(char) && space.test(char);
}

/** Go changes runes one by one: `ß` stays as it is. */
export function upperRune(char: string): string {
  const changed = char.toUpperCase();
  return runes(changed).length === 1 ? changed : withIotaBeside(char);
}

/** Greek letters with an iota below, which is written beside the capital; JavaScript makes two letters of them. */
function withIotaBeside(char: string): string {
  const code = char.codePointAt(0)!;
  if (code >= 0x1f80 && code <= 0x1fa7) return String.fromCodePoint((code & 8) === 0 ? code + 8 : code);
  return code === 0x1fb3 || code === 0x1fc3 || code === 0x1ff3 ? String.fromCodePoint(code + 9) : char;
}

export function lowerRune(char: string): string {
  const changed = char.toLowerCase();
  return runes(changed).length === 1 ? changed : runes(changed)[0]!;
}

/** The digraphs that have a form of their own at the beginning of a word. */
const titles = new Map<string, string>();
for (const [forms, title] of [
  ['Ǆǅǆ', 'ǅ'],
  ['Ǉǈǉ', 'ǈ'],
  ['Ǌǋǌ', 'ǋ'],
  ['Ǳǲǳ', 'ǲ'],
] as const)
  for (const form of forms) titles.set(form, title);

function titleRune(char: string): string {
  return titles.get(char) ?? (isTitle(char) ? char : upperRune(char));
}

/** The first letter of each word in lower case. */
export function uncapitalise(text: string): string {
  let next = true;
  let result = '';
  for (const char of withReplacements(text)) {
    if (space.test(char)) {
      next = true;
      result += char;
    } else {
      result += next ? lowerRune(char) : char;
      next = false;
    }
  }
  return result;
}

export function swapCase(text: string): string {
  let result = '';
  let atStart = true;
  for (const char of withReplacements(text)) {
    if (isUpper(char) || isTitle(char)) result += lowerRune(char);
    else if (isLower(char)) result += atStart ? titleRune(char) : upperRune(char);
    else result += char;
    atStart = space.test(char);
  }
  return result;
}

/** `some-words like_this` as `SomeWordsLikeThis`. Leading and doubled connectors stay. */
export function pascalCase(text: string): string {
  const chars = runes(withReplacements(text));
  let result = '';
  let index = 0;
  while (index < chars.length && connector.test(chars[index]!)) {
    result += chars[index];
    index += 1;
  }
  if (index === chars.length) return result + (chars.length > 0 ? chars.at(-1)! : '');
  let wordIsUpper = isUpper(chars[index]!);
  let previous = upperRune(chars[index]!);
  for (index += 1; index < chars.length; index += 1) {
    let char = chars[index]!;
    if (connector.test(char) && connector.test(previous)) {
      result += previous;
      previous = char;
      continue;
    }
    if (connector.test(previous)) {
      wordIsUpper = isUpper(char);
      char = upperRune(char);
    } else {
      if (wordIsUpper) {
        if (isUpper(char)) char = lowerRune(char);
        else wordIsUpper = false;
      }
      result += previous;
    }
    previous = char;
  }
  return result + previous;
}

type WordType = 'connector' | 'punctuation' | 'upper' | 'letters' | 'number' | 'other' | 'none';

interface Word {
  readonly type: WordType;
  readonly text: string;
}

const wordPattern = (): RegExp =>
  /(?<connector>[-_\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+)|(?<punctuation>\p{P}+)|(?<upper>\p{Lu}+(?=\p{Lu}[^\P{L}\p{Lu}])|\p{Lu}{2,}|\p{Lu}[^\P{L}\p{Lu}]*)|(?<letters>[^\P{L}\p{Lu}]+)|(?<number>\p{N}+)|(?<other>[^-_\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\p{P}\p{L}\p{N}]+)/gu;

function wordsOf(text: string): Word[] {
  return [...text.matchAll(wordPattern())].map((match) => {
    const [type] = Object.entries(match.groups!).find(([, found]) => found !== undefined)!;
    return { type: type as WordType, text: match[0] };
  });
}

const end: Word = { type: 'none', text: '' };

/** `HTTPServer2xx` as `http_server_2xx`: a number belongs to the word before it unless small letters follow. */
function lowerCaseWords(text: string, joint: string): string {
  const words = wordsOf(text);
  let at = 0;
  let result = '';
  const next = (): Word => {
    const word = words[at] ?? end;
    at += 1;
    return word;
  };
  const write = (word: Word): void => {
    if (word.type === 'connector') result += joint.repeat(runes(word.text).length);
    else result += word.type === 'upper' ? mapRunes(word.text, lowerRune) : word.text;
  };
  const joins = (word: Word): boolean =>
    word.type !== 'none' && word.type !== 'punctuation' && word.type !== 'connector';
  let word = next();
  while (at < words.length) {
    if (word.type !== 'connector') write(word);
    const before = word;
    word = next();
    if (before.type === 'connector') write(before);
    else if (before.type === 'number') {
      while (word.type === 'letters' || word.type === 'number') {
        write(word);
        word = next();
      }
      if (joins(word)) result += joint;
    } else if (before.type !== 'punctuation') {
      if (word.type !== 'number') {
        if (joins(word)) result += joint;
        continue;
      }
      if (at >= words.length) continue;
      const number = word;
      word = next();
      if (word.type !== 'letters') {
        write(number);
        if (word.type !== 'connector' && word.type !== 'punctuation') result += joint;
        continue;
      }
      result += joint;
      write(number);
      while (word.type === 'letters' || word.type === 'number') {
        write(word);
        word = next();
      }
      if (joins(word)) result += joint;
    }
  }
  write(word);
  return result;
}

export function snakeCase(text: string): string {
  return lowerCaseWords(text, '_');
}

export function kebabCase(text: string): string {
  return lowerCaseWords(text, '-');
}
