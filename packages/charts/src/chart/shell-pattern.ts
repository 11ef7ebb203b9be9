/** Go's `filepath.Match` as a regular expression; `undefined` when the pattern is malformed. */
export function globToRegExp(pattern: string): RegExp | undefined {
  let source = '^';
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern[i]!;
    if (char === '*') source += '[^/]*';
    else if (char === '?') source += '[^/]';
    else if (char === '[') {
      const close = pattern.indexOf(']', i + 2);
      if (close < 0) return undefined;
      const body = pattern.slice(i + 1, close);
      const negated = body.startsWith('^');
      const members = (negated ? body.slice(1) : body).replace(/[\]\\[]/g, '\\$&');
      source += `[${negated ? '^/' : ''}${members}]`;
      i = close;
    } else if (char === '\\') {
      i += 1;
      if (i >= pattern.length) return undefined;
      source += escape(pattern[i]!);
    } else source += escape(char);
  }
  try {
    return new RegExp(`${source}$`, 'su');
  } catch {
    return undefined;
  }
}

function escape(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}
