import { runes } from '../go/bytes.ts';
import { longestPattern, patternMatcher, type PatternPiece } from './pattern-program.ts';

/**
 * gobwas/glob with `/` as separator: `*`, `**`, `?`, `[abc]`, `[!a-z]`, `{a,b}`, `\x`. A malformed pattern matches all. `countLooks` is
 * told what a match takes.
 */
export function compileGlob(pattern: string, countLooks?: (looks: number) => void): (path: string) => boolean {
  const pieces = piecesOf(pattern);
  return pieces ? patternMatcher(pieces, countLooks) : () => true;
}

const any = () => true;
const notSlash = (character: string) => character !== '/';

/** Choices that are being read: those that are complete, and the one that is not. */
interface OpenChoice {
  readonly choices: PatternPiece[][];
  current: PatternPiece[];
}

function piecesOf(pattern: string): PatternPiece[] | undefined {
  if (pattern.length > longestPattern) return undefined;
  const open: OpenChoice[] = [{ choices: [], current: [] }];
  const characters = runes(pattern);
  for (let i = 0; i < characters.length; i += 1) {
    const char = characters[i]!;
    const here = open.at(-1)!;
    if (char === '*') {
      const double = characters[i + 1] === '*';
      while (characters[i + 1] === '*') i += 1;
      here.current.push({ many: double ? any : notSlash });
    } else if (char === '?') here.current.push({ one: notSlash });
    else if (char === '[') {
      const close = characters.indexOf(']', i + 1);
      const one = close < 0 ? undefined : characterClass(characters.slice(i + 1, close).join(''));
      if (!one) return undefined;
      here.current.push({ one });
      i = close;
    } else if (char === '{') open.push({ choices: [], current: [] });
    else if (char === '}' && open.length > 1) {
      open.pop();
      open.at(-1)!.current.push({ anyOf: [...here.choices, here.current] });
    } else if (char === ',' && open.length > 1) {
      here.choices.push(here.current);
      here.current = [];
    } else {
      if (char === '\\') i += 1;
      const literal = characters[i];
      if (literal === undefined) return undefined;
      here.current.push({ one: (character) => character === literal });
    }
  }
  return open.length === 1 ? open[0]!.current : undefined;
}

function characterClass(body: string): ((character: string) => boolean) | undefined {
  const negated = body.startsWith('!');
  const members = (negated ? body.slice(1) : body).replace(/[\\^[\]]/g, '\\$&');
  if (members === '') return undefined;
  try {
    const expression = new RegExp(`^[${negated ? '^' : ''}${members}]$`, 'su');
    return (character) => expression.test(character);
  } catch {
    return undefined;
  }
}
