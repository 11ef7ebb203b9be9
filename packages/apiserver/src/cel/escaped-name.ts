const reservedWords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/**
 * The other name of a property in expressions: most words of the language may follow a dot as they are, `self.namespace` beside
 * `self.__namespace__`. Those that are values or operators may not.
 */
export function plainName(name: string): string | undefined {
  return reservedWords.has(name) && !valueWords.has(name) ? name : undefined;
}

const valueWords = new Set(['true', 'false', 'null', 'in']);

/** How a property is written in expressions, where its name is no identifier: `a-b` is `a__dash__b`. */
export function escapedName(name: string): string | undefined {
  if (reservedWords.has(name)) return `__${name}__`;
  const escaped = name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) ? escaped : undefined;
}
