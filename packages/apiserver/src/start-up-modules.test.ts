import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Starts a cluster and prints which files and which modules of Node that took. */
const program = `
  const { registerHooks } = await import('node:module');
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  const before = new Set(process.moduleLoadList);
  const { startCluster } = await import(process.argv[1]);
  const cluster = await startCluster({ port: 0 });
  loaded.push(...process.moduleLoadList.filter((name) => !before.has(name)));
  await cluster.stop();
  process.stdout.write(JSON.stringify(loaded));
`;

it('a cluster starts without what it may never need', { timeout: 30_000 }, async () => {
  const source = new URL('./index.ts', import.meta.url).href;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, source]);
  const loaded = JSON.parse(stdout) as string[];
  expect(loaded.some((url) => url.endsWith('/src/cluster.ts'))).toBe(true);
  expect(loaded).toContain('NativeModule http');
  const late = [
    /node_modules\/yaml\//,
    /@marcbachmann\/cel-js/,
    /node_modules\/re2js\//,
    /@peculiar\/x509/,
    /reflect-metadata/,
    /src\/generated\/descriptions\.ts$/,
    /src\/tls\.ts$/,
    /src\/store\/sqlite-storage\.ts$/,
    /^NativeModule crypto$/,
    /^NativeModule sqlite$/,
    /^NativeModule zlib$/,
    /^NativeModule internal\/deps\/undici/,
    /^NativeModule https$/,
  ];
  expect(loaded.filter((name) => late.some((pattern) => pattern.test(name)))).toEqual([]);
});
