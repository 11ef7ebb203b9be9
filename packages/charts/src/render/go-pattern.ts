/** Classes that have a name between brackets: `[[:alpha:]]`. */
const namedClasses: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/**
 * A regular expression of a schema as `RegExp` reads it. Authors of charts write what Go takes: any punctuation behind a backslash, braces
 * that repeat nothing, classes with names, flags at the beginning. What `RegExp` takes anyway stays as it is.
 */
export function goPattern(pattern: string): string {
  if (isUsable(pattern)) return pattern;
  const [, flags = '', rest = ''] = /^(?:\(\?([ims]+)\))?([^]*)$/.exec(pattern)!;
  const translated = translatePieces(rest);
  const whole = flags === '' ? translated : `(?${flags}:${translated})`;
  // The complaint is about what the author wrote.
  return isUsable(whole) ? whole : pattern;
}

function isUsable(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode;
  } catch {
    return false;
  }
}

/** Pieces that mean the same to both are taken over; the last alternative is any other character. */
const piece = /\\[^]|\(\?P<|\{\d+(?:,\d*)?\}|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|[^]/g;

function translatePieces(pattern: string): string {
  return pattern.replace(piece, (found) => {
    if (found === '(?P<') return '(?<';
    if (found.startsWith('\\')) return escape(found[1]!, false);
    if (found.startsWith('[') && found.length > 1) return characterClass(found);
    return found.length === 1 && '{}]'.includes(found) ? `\\${found}` : found;
  });
}

function characterClass(text: string): string {
  const [, start, members] = /^(\[\^?)([^]*)\]$/.exec(text)!;
  const translated = members!.replace(/^\]|\[:(\w+):\]|\\([^])|\[/g, (found, name?: string, escaped?: string) => {
    if (name !== undefined) return namedClasses[name] ?? found;
    return escaped === undefined ? `\\${found}` : escape(escaped, true);
  });
  return `${start}${translated}]`;
}

/** `RegExp` takes a backslash only before what would mean something without it. */
function escape(char: string, inClass: boolean): string {
  if (!inClass && char === 'z') return '$';
  if (!inClass && char === 'A') return '^';
  if (char === 'a') return '\\x07';
  if (/[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(char) || (inClass && char === '-')) return `\\${char}`;
  return char;
}
