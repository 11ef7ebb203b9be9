/**
 * Go's regular expressions in JavaScript. RE2 has no look-around and no back-references; those are refused as Go refuses them. What is
 * only written differently is rewritten: `\A`, `\z`, `(?P<name>`, `(?i)` at the start, `[[:alpha:]]`, `\Q…\E`, `\pL`.
 */
const posixClasses: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: String.raw`\x00-\x7F`,
  blank: String.raw`\t `,
  cntrl: String.raw`\x00-\x1F\x7F`,
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: String.raw`!-\/:-@\[-\`{-~`,
  space: String.raw`\t\n\v\f\r `,
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

const cache = new Map<string, RegExp>();
const cacheLimit = 1000;

/** Compiles an RE2 pattern; throws an `Error` with Go's kind of message when it is none. Extra `flags` are JavaScript's. */
export function compileRe2(pattern: string, flags = ''): RegExp {
  const key = `${flags}/${pattern}`;
  const known = cache.get(key);
  if (known) return known;
  const compiled = translate(pattern, flags);
  if (cache.size >= cacheLimit) cache.clear();
  cache.set(key, compiled);
  return compiled;
}

function translate(pattern: string, extraFlags: string): RegExp {
  let flags = 'u';
  let rest = pattern;
  const leading = /^\(\?([imsU]+)\)/.exec(rest);
  if (leading) {
    for (const flag of leading[1]!) {
      if (flag === 'U') throw refused(pattern, 'invalid or unsupported Perl syntax: `(?U`');
      flags += flag;
    }
    rest = rest.slice(leading[0].length);
  }
  for (const flag of extraFlags) if (!flags.includes(flag)) flags += flag;
  try {
    return new RegExp(rewrite(rest, pattern), flags);
  } catch (error) {
    if (error instanceof Re2Error) throw error;
    throw refused(pattern, error instanceof Error ? error.message : String(error));
  }
}

/** Says which pattern Go would not take, and why. */
export class Re2Error extends Error {}

function refused(pattern: string, why: string): Re2Error {
  return new Re2Error(`error parsing regexp: ${why}: \`${pattern}\``);
}

function rewrite(pattern: string, whole: string): string {
  let result = '';
  let inClass = false;
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern[index]!;
    if (char === '\\') {
      const next = pattern[index + 1];
      if (next === undefined) throw refused(whole, 'trailing backslash at end of expression');
      index++;
      if (next === 'Q') {
        const end = pattern.indexOf(String.raw`\E`, index);
        const literal = pattern.slice(index + 1, end < 0 ? undefined : end);
        result += literal.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
        index = end < 0 ? pattern.length : end + 1;
      } else if (next === 'A' && !inClass) result += '(?<![\\s\\S])';
      else if (next === 'z' && !inClass) result += '(?![\\s\\S])';
      else if (/[1-9]/.test(next)) throw refused(whole, `invalid escape sequence: \`\\${next}\``);
      else if ((next === 'p' || next === 'P') && pattern[index + 1] !== '{') {
        result += `\\${next}{${pattern[++index] ?? ''}}`;
      } else if (next === 'a') result += String.raw`\x07`;
      else if (next === 'x' && pattern[index + 1] === '{') {
        const end = pattern.indexOf('}', index);
        result += `\\u${pattern.slice(index + 1, end + 1)}`;
        index = end;
      } else if (/[A-Za-z0-9]/.test(next)) result += `\\${next}`;
      // JavaScript's unicode mode allows escaping syntax characters only, Go any punctuation.
      else result += /[\^$\\.*+?()[\]{}|/]/.test(next) || (inClass && next === '-') ? `\\${next}` : next;
      continue;
    }
    if (inClass) {
      const posix = /^\[:(\^?)(\w+):\]/.exec(pattern.slice(index));
      if (posix) {
        const members = posixClasses[posix[2]!];
        if (members === undefined || posix[1]) throw refused(whole, 'invalid character class range');
        result += members;
        index += posix[0].length - 1;
        continue;
      }
      if (char === ']') inClass = false;
      result += char === '[' ? String.raw`\[` : char;
      continue;
    }
    if (char === '[') {
      inClass = true;
      result += '[';
      if (pattern[index + 1] === '^') {
        result += '^';
        index++;
      }
      if (pattern[index + 1] === ']') {
        result += String.raw`\]`;
        index++;
      }
      continue;
    }
    if (char === '(' && pattern[index + 1] === '?') {
      const group = /^\(\?(?:P?<([A-Za-z_]\w*)>|:|([ims]+):)/.exec(pattern.slice(index));
      if (!group) {
        throw refused(whole, `invalid or unsupported Perl syntax: \`${pattern.slice(index, index + 3)}\``);
      }
      result += group[1] ? `(?<${group[1]}>` : group[0];
      index += group[0].length - 1;
      continue;
    }
    // Unescaped braces that are no repetition are literal in Go.
    if (char === '{' && !/^\{\d+(?:,\d*)?\}/.test(pattern.slice(index))) {
      result += String.raw`\{`;
      continue;
    }
    if (char === '{') {
      const repetition = /^\{\d+(?:,\d*)?\}/.exec(pattern.slice(index))![0];
      result += repetition;
      index += repetition.length - 1;
      continue;
    }
    if (char === '}' || char === ']') {
      result += `\\${char}`;
      continue;
    }
    result += char;
  }
  if (inClass) throw refused(whole, 'missing closing ]');
  return result;
}
