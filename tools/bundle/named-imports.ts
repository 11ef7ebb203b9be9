// The X.509 library can only be loaded, and asked for its names, after it.
import 'reflect-metadata';
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * A package that is not written as ES modules has, for Node, its names when it is loaded by `import()`. In modules that were split by
 * esbuild it has only `default`, and `const { parse } = await import('yaml')` is undefined without a word. So each package that is
 * loaded so gets a module with the names Node would see.
 */
export function namedImports(): Plugin {
  return {
    name: 'named-imports',
    setup(builder) {
      builder.onResolve({ filter: /^[^./]/ }, ({ path, kind, resolveDir }) => {
        const isOurs = path.startsWith('@slipway/') || path.startsWith('slipway:');
        if (kind !== 'dynamic-import' || isOurs || isBuiltin(path)) return undefined;
        return { path, namespace: 'named-imports', pluginData: { resolveDir } };
      });
      builder.onLoad({ filter: /.*/, namespace: 'named-imports' }, async ({ path, pluginData }) => {
        const names = Object.keys((await import(path)) as object).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name));
        const exports = names.filter((name) => name !== 'default' && name !== 'module.exports');
        return {
          contents: [
            `import * as all from ${JSON.stringify(path)};`,
            ...exports.map((name) => `export const ${name} = all.${name};`),
            ...(names.includes('default') ? ['export default all.default;'] : []),
          ].join('\n'),
          resolveDir: (pluginData as { resolveDir: string }).resolveDir,
          loader: 'js',
        };
      });
    },
  };
}
