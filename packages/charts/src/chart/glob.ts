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
      const found = characterClass(characters, i + 1);
      if (!found) return undefined;
      here.current.push(found);
      i = found.end;
    } else if (char === '{') open.push({ choices: [], current: [] });
    else if (char === '}' && open.length > 1) close(open);
    else if (char === ',' && open.length > 1) {
      here.choices.push(here.current);
      here.current = [];
    } else {
      if (char === '\\') i += 1;
      const literal = characters[i];
      // A backslash at the end is nothing.
      if (literal === undefined) break;
      here.current.push({ one: (character) => character === literal });
    }
  }
  // A brace that stays open ends with the pattern.
  while (open.length > 1) close(open);
  return open[0]!.current;
}

function close(open: OpenChoice[]): void {
  const { choices, current } = open.pop()!;
  open.at(-1)!.current.push({ anyOf: [...choices, current] });
}

/**
 * What stands between brackets, from behind the first one: either one range, or characters of which none but a backslash means
 * anything. `[a-z0-9]` is malformed.
 */
function characterClass(
  characters: readonly string[],
  start: number,
): { one: (character: string) => boolean; end: number } | undefined {
  const negated = characters[start] === '!';
  let at = negated ? start + 1 : start;
  if (characters[at + 1] === '-') {
    const [low, high] = [characters[at]?.codePointAt(0), characters[at + 2]?.codePointAt(0)];
    if (low === undefined || high === undefined || high < low || characters[at + 3] !== ']') return undefined;
    const isIn = (code: number) => low <= code && code <= high;
    return { one: (character) => isIn(character.codePointAt(0)!) !== negated, end: at + 3 };
  }
  const members = new Set<string | undefined>();
  for (; characters[at] !== ']'; at += 1) {
    if (characters[at] === '\\') at += 1;
    if (at >= characters.length) return undefined;
    members.add(characters[at]);
  }
  return members.size === 0 ? undefined : { one: (character) => members.has(character) !== negated, end: at };
}
