/** gobwas/glob with `/` as separator: `*`, `**`, `?`, `[abc]`, `[!a-z]`, `{a,b}`, `\x`. A malformed pattern matches all. */
export function compileGlob(pattern: string): (path: string) => boolean {
  const source = translate(pattern);
  if (source === undefined) return () => true;
  const expression = new RegExp(`^${source}$`, 'su');
  return (path) => expression.test(path);
}

function translate(pattern: string): string | undefined {
  let source = '';
  let depth = 0;
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern[i]!;
    if (char === '*') {
      const double = pattern[i + 1] === '*';
      while (pattern[i + 1] === '*') i += 1;
      source += double ? '.*' : '[^/]*';
    } else if (char === '?') source += '[^/]';
    else if (char === '[') {
      const close = pattern.indexOf(']', i + 1);
      if (close < 0) return undefined;
      const body = pattern.slice(i + 1, close);
      const negated = body.startsWith('!');
      const members = (negated ? body.slice(1) : body).replace(/[\\^[\]]/g, '\\$&');
      if (members === '') return undefined;
      source += `[${negated ? '^' : ''}${members}]`;
      i = close;
    } else if (char === '{') {
      depth += 1;
      source += '(?:';
    } else if (char === '}' && depth > 0) {
      depth -= 1;
      source += ')';
    } else if (char === ',' && depth > 0) source += '|';
    else if (char === '\\') {
      i += 1;
      if (i >= pattern.length) return undefined;
      source += escape(pattern[i]!);
    } else source += escape(char);
  }
  return depth === 0 ? source : undefined;
}

function escape(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}
