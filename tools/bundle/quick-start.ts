import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Takes modules of Node when they are first used, and as they are. An `import` of one reads everything it exports, which
 * for `node:http` means loading a second HTTP client: a third of the time the command needs to start.
 */
export function builtinsOnDemand(): Plugin {
  return {
    name: 'builtins-on-demand',
    setup(builder) {
      builder.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) => {
        if (kind === 'entry-point' || !isBuiltin(path)) return undefined;
        // What is loaded late stays as it is: Node gives it its names, a module that was split off would have only `default`.
        return kind === 'dynamic-import'
          ? { path, external: true }
          : { path, namespace: 'builtin', sideEffects: false };
      });
      builder.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
        loader: 'js',
      }));
    },
  };
}

/** The parts of undici that are used. Its main module loads all others too: fetch, mocks, caches, web sockets. */
export function narrowUndici(): Plugin {
  return {
    name: 'narrow-undici',
    setup(builder) {
      builder.onResolve({ filter: /^undici$/ }, ({ resolveDir }) => ({
        path: 'undici',
        namespace: 'narrow',
        pluginData: resolveDir,
      }));
      builder.onLoad({ filter: /.*/, namespace: 'narrow' }, ({ pluginData }) => ({
        contents:
          "export { default as Pool } from 'undici/lib/dispatcher/pool.js';\n" +
          "export { default as buildConnector } from 'undici/lib/core/connect.js';\n",
        loader: 'js',
        resolveDir: pluginData as string,
      }));
    },
  };
}
