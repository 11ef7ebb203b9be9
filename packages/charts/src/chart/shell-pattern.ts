import { runes } from '../go/bytes.ts';
import { longestPattern, patternMatcher, type PatternPiece } from './pattern-program.ts';

/** Go's `filepath.Match`; `undefined` when the pattern is malformed. */
export function shellPattern(pattern: string): ((path: string) => boolean) | undefined {
  const pieces = piecesOf(pattern);
  if (!pieces) return undefined;
  const simple = simpleMatcher(pattern);
  if (simple) return simple;
  const matches = patternMatcher(pieces);
  const [beginning] = /^[^*?[\\]*/.exec(pattern)!;
  return (path) => path.startsWith(beginning) && matches(path);
}

/** Nearly all patterns are a name, or one with a single star; there are dozens of them for hundreds of files. */
function simpleMatcher(pattern: string): ((path: string) => boolean) | undefined {
  if (/[?[\\]/.test(pattern)) return undefined;
  const [before, after, more] = pattern.split('*') as [string, string?, string?];
  if (after === undefined) return (path) => path === pattern;
  if (more !== undefined) return undefined;
  const shortest = before.length + after.length;
  return (path) =>
    path.length >= shortest &&
    path.startsWith(before) &&
    path.endsWith(after) &&
    !path.slice(before.length, path.length - after.length).includes('/');
}

const notSlash = (character: string) => character !== '/';

function piecesOf(pattern: string): PatternPiece[] | undefined {
  if (pattern.length > longestPattern) return undefined;
  const pieces: PatternPiece[] = [];
  const characters = runes(pattern);
  for (let i = 0; i < characters.length; i += 1) {
    const char = characters[i]!;
    if (char === '*') pieces.push({ many: notSlash });
    else if (char === '?') pieces.push({ one: notSlash });
    else if (char === '[') {
      const found = characterClass(characters, i + 1);
      if (!found) return undefined;
      pieces.push(found);
      i = found.end;
    } else {
      if (char === '\\') i += 1;
      const literal = characters[i];
      if (literal === undefined) return undefined;
      pieces.push({ one: (character) => character === literal });
    }
  }
  return pieces;
}

/** What stands between brackets, from behind the first one: characters and ranges of them, `^` for all others, a slash too. */
function characterClass(
  characters: readonly string[],
  start: number,
): { one: (character: string) => boolean; end: number } | undefined {
  const negated = characters[start] === '^';
  let at = negated ? start + 1 : start;
  const member = (): number | undefined => {
    if (characters[at] === '-' || characters[at] === ']') return undefined;
    if (characters[at] === '\\') at += 1;
    const found = characters[at]?.codePointAt(0);
    at += 1;
    return found;
  };
  const ranges: [low: number, high: number][] = [];
  while (characters[at] !== ']' || ranges.length === 0) {
    const low = member();
    if (low === undefined) return undefined;
    const isRange = characters[at] === '-';
    if (isRange) at += 1;
    const high = isRange ? member() : low;
    if (high === undefined) return undefined;
    ranges.push([low, high]);
  }
  const one = (character: string) => {
    const code = character.codePointAt(0)!;
    return ranges.some(([low, high]) => low <= code && code <= high) !== negated;
  };
  return { one, end: at };
}
