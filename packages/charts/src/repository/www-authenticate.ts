/** A way a server offers to find out who we are. */
export interface Challenge {
  /** Lower case: `bearer`, `basic`. */
  readonly scheme: string;
  /** Lower-case names. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Reads `www-authenticate`: `Bearer realm="https://…",service="…",scope="…"`, and others. */
export function challengesIn(header: string | string[] | undefined): Challenge[] {
  return [header ?? []].flat().flatMap(readHeader);
}

const parameter = /\s*,?\s*([a-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/iy;
const scheme = /\s*,?\s*([a-z0-9_-]+)(?=\s|$|,)/iy;

function readHeader(text: string): Challenge[] {
  const challenges: Challenge[] = [];
  let at = 0;
  while (at < text.length) {
    scheme.lastIndex = at;
    const name = scheme.exec(text);
    if (!name) break;
    at = scheme.lastIndex;
    const parameters = new Map<string, string>();
    for (;;) {
      parameter.lastIndex = at;
      const pair = parameter.exec(text);
      if (!pair) break;
      at = parameter.lastIndex;
      parameters.set(pair[1]!.toLowerCase(), pair[2]?.replace(/\\(.)/g, '$1') ?? pair[3]!);
    }
    challenges.push({ scheme: name[1]!.toLowerCase(), parameters });
  }
  return challenges;
}
