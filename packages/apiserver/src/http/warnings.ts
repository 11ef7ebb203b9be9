/** Characters all warnings of an answer may have; with more, each is cut. The real server does the same. */
const mostCharacters = 4_096;
const mostCharactersOfOne = 256;

/** The values of `Warning` headers, each text once. Clients read headers of a few kilobytes, not of megabytes. */
export function warningHeaders(warnings: readonly string[]): string[] {
  const unique = [...new Set(warnings)];
  let total = 0;
  for (const text of unique) total += text.length;
  return (total <= mostCharacters ? unique : shortened(unique)).map((text) => `299 - ${quoted(text)}`);
}

function shortened(texts: readonly string[]): string[] {
  const result: string[] = [];
  let total = 0;
  for (const text of texts) {
    if (total >= mostCharacters) break;
    const kept = Array.from(text.slice(0, 2 * mostCharactersOfOne)).slice(0, mostCharactersOfOne);
    total += kept.length;
    result.push(kept.join(''));
  }
  return result;
}

/** A quoted string as HTTP wants it: quotes and backslashes escaped, no control characters. */
function quoted(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').replace(/[^\u0020-\u007e]/g, '?');
  return `"${clean.replace(/["\\]/g, '\\$&')}"`;
}
