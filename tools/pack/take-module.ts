import { posix } from 'node:path';

/** The types of a module as others read them: the compiler leaves `.ts` in their imports, where only `.js` files travel. */
export function publishedTypes(text: string): string {
  return text.replaceAll(/((?:from|import)\s*\(?\s*)(['"])(\.{1,2}\/[^'"]*)\.ts\2/g, '$1$2$3.js$2');
}

/**
 * The source map of a built module, `path` from the `dist` of its package. It carries the source itself; its name is where
 * the source would lie.
 */
export function publishedMap(text: string, path: string): string {
  const map = JSON.parse(text) as { sources: string[] };
  const source = posix.join('src', path.replace(/\.js\.map$/, '.ts'));
  return JSON.stringify({ ...map, sources: [posix.relative(posix.dirname(posix.join('dist', path)), source)] });
}
