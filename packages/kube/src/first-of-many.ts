/**
 * The first few of many texts, and how many more there are: a condition, an event or an error has room for some.
 *
 * ```ts
 * firstOfMany(['a', 'b', 'c', 'd', 'e']); // 'a; b; c; and 2 more'
 * ```
 */
export function firstOfMany(
  texts: readonly string[],
  options: { /** Default 3. */ readonly shown?: number; /** Default `; `. */ readonly separator?: string } = {},
): string {
  const { shown = 3, separator = '; ' } = options;
  const more = texts.length - shown;
  return [...texts.slice(0, shown), ...(more > 0 ? [`and ${more} more`] : [])].join(separator);
}
