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
      const close = characters.indexOf(']', i + 2);
      if (close < 0) return undefined;
      const one = characterClass(characters.slice(i + 1, close).join(''));
      if (!one) return undefined;
      pieces.push({ one });
      i = close;
    } else {
      if (char === '\\') i += 1;
      const literal = characters[i];
      if (literal === undefined) return undefined;
      pieces.push({ one: (character) => character === literal });
    }
  }
  return pieces;
}

function characterClass(body: string): ((character: string) => boolean) | undefined {
  const negated = body.startsWith('^');
  const members = (negated ? body.slice(1) : body).replace(/[\]\\[]/g, '\\$&');
  try {
    const expression = new RegExp(`^[${negated ? '^/' : ''}${members}]$`, 'su');
    return (character) => expression.test(character);
  } catch {
    return undefined;
  }
}
