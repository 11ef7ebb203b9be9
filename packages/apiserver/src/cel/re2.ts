import { RE2JS, RE2JSSyntaxException } from 're2js';

/** A regular expression of Go. It takes time in proportion to the text, whatever the pattern and the text are. */
export interface Re2 {
  test(text: string): boolean;
  /** The first match. */
  find(text: string): string | undefined;
  /** All matches that do not overlap, up to `limit`. */
  findAll(text: string, limit: number): string[];
}

/** Says which pattern Go would not take, and why. */
export class Re2Error extends Error {}

const cache = new Map<string, Re2>();
const cacheLimit = 1000;

/** Compiles an RE2 pattern; throws a {@link Re2Error} with Go's message when it is none. */
export function compileRe2(pattern: string): Re2 {
  const known = cache.get(pattern);
  if (known) return known;
  const compiled = compile(pattern);
  if (cache.size >= cacheLimit) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}

function compile(pattern: string): Re2 {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw new Re2Error(error.message);
    throw error;
  }
  return {
    test: (text) => expression.test(text),
    find(text) {
      const matcher = expression.matcher(text);
      return matcher.find() ? (matcher.group() ?? '') : undefined;
    },
    findAll(text, limit) {
      const matcher = expression.matcher(text);
      const found: string[] = [];
      while (found.length < limit && matcher.find()) found.push(matcher.group() ?? '');
      return found;
    },
  };
}
