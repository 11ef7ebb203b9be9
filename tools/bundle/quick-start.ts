import { readFile } from 'node:fs/promises';
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
      builder.onResolve({ filter: /^[a-z]/ }, ({ path, kind, importer }) => {
        if (kind === 'entry-point' || !isBuiltin(path)) return undefined;
        // What is loaded late stays as it is: Node gives it its names, a module that was split off would have only `default`.
        return kind === 'dynamic-import'
          ? { path, external: true }
          : // One for each module that asks: shared ones would be a file of their own each, which takes longer to find than to read.
            { path, suffix: `?${importer} ${kind}`, namespace: 'builtin', sideEffects: false };
      });
      builder.onLoad({ filter: /.*/, namespace: 'builtin' }, async ({ path, suffix }) => ({
        contents: slowToLoad.has(path)
          ? await onFirstUse(path)
          : suffix.endsWith(' import-statement')
            ? await named(path)
            : `module.exports = ${taken(path)}`,
        loader: 'js',
      }));
    },
  };
}

/** A fifth of the time a command needs to start; few commands use them. All are plain objects: nobody calls or extends them. */
const slowToLoad = new Set(['node:child_process', 'node:crypto', 'node:fs/promises', 'node:net', 'node:zlib']);

const taken = (path: string) => `process.getBuiltinModule(${JSON.stringify(path)})`;

async function namesOf(path: string): Promise<string[]> {
  return Object.keys((await import(path)) as object).filter(
    (name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default',
  );
}

/**
 * A module of Node by the names that are imported from it; the bundler drops the others. To ask for all of them, as it would for a module
 * that is not written as an ES module, loads what some of them stand for: those of `node:util` bring the streams and the network.
 */
async function named(path: string): Promise<string> {
  return [
    `const all = /* @__PURE__ */ ${taken(path)};`,
    ...(await namesOf(path)).map((name) => `export const ${name} = /* @__PURE__ */ (() => all.${name})();`),
    'export default all;',
  ].join('\n');
}

/** A module of Node that is loaded when one of its names is first asked for. */
async function onFirstUse(path: string): Promise<string> {
  return `let loaded;
for (const name of ${JSON.stringify(await namesOf(path))})
  Object.defineProperty(exports, name, { enumerable: true, get: () => (loaded ??= ${taken(path)})[name] });`;
}

/**
 * A package that a module takes by `require` when it first needs it is bundled all the same, and still evaluated only then. For the
 * bundler it has to be the `require` nobody declared; the one a module makes for itself would look for a folder with packages.
 */
export function packagesOnDemand(): Plugin {
  return {
    name: 'packages-on-demand',
    setup(builder) {
      builder.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        const own = 'const require = createRequire(import.meta.url);';
        return text.includes(own) ? { contents: text.replace(own, ''), loader: 'ts' } : undefined;
      });
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
