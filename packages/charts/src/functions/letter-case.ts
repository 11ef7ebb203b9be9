import { runes } from '../go/bytes.ts';

/** How sprig's string libraries see words and letters. */

// Patterns with letters of the whole world stand in functions: V8 makes their tables when it first comes to them, which takes a while.
const isUpper = (char: string): boolean => /^\p{Lu}$/u.test(char);
const isTitle = (char: string): boolean => /^\p{Lt}$/u.test(char);
const isLower = (char: string): boolean => /^\p{Ll}$/u.test(char);
const space = /^[\s\u0085]$/u;
const connector = /^[-_\s]$/u;

/** The first letter of each word in upper case, as Go's `strings.Title`. */
export function titleCase(text: string): string {
  let afterSeparator = true;
  let result = '';
  for (const char of text) {
    result += afterSeparator ? upperRune(char) : char;
    afterSeparator = isSeparator(char);
  }
  return result;
}

function isSeparator(char: string): boolean {
  if (char <= '\x7f') return !/[A-Za-z0-9_]/.test(char);
  return !/[\p{L}\p{Nd}]/u.test(char) && space.test(char);
}

function upperRune(char: string): string {
  const changed = char.toUpperCase();
  return runes(changed).length === 1 ? changed : char;
}

/** The first letter of each word in lower case. */
export function uncapitalise(text: string): string {
  let next = true;
  let result = '';
  for (const char of text) {
    if (space.test(char)) {
      next = true;
      result += char;
    } else {
      result += next ? char.toLowerCase() : char;
      next = false;
    }
  }
  return result;
}

export function swapCase(text: string): string {
  let result = '';
  for (const char of text) {
    if (isUpper(char) || isTitle(char)) result += char.toLowerCase();
    else if (isLower(char)) result += upperRune(char);
    else result += char;
  }
  return result;
}

/** `some-words like_this` as `SomeWordsLikeThis`. Leading and doubled connectors stay. */
export function pascalCase(text: string): string {
  const chars = runes(text);
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
        if (isUpper(char)) char = char.toLowerCase();
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
  /(?<connector>[-_\s]+)|(?<punctuation>\p{P}+)|(?<upper>\p{Lu}+(?=\p{Lu}[^\P{L}\p{Lu}])|\p{Lu}{2,}|\p{Lu}[^\P{L}\p{Lu}]*)|(?<letters>[^\P{L}\p{Lu}]+)|(?<number>\p{N}+)|(?<other>[^-_\s\p{P}\p{L}\p{N}]+)/gu;

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
    else result += word.type === 'upper' ? word.text.toLowerCase() : word.text;
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
