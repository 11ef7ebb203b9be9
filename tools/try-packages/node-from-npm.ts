import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

import { must } from './programs.ts';

/** A Node to try things with, and the folder it lies in. */
export interface OtherNode {
  readonly version: string;
  readonly file: string;
}

/** The npm package that carries Node for a machine. The prefix of Apple Silicon's is another. */
export function nodePackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = platform === 'win32' ? 'win' : platform;
  return `${name === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${name}-${arch}`;
}

/** Fetches a Node into a folder; the one that runs this is taken as it is. */
export async function nodeFromNpm(version: string, folder: string): Promise<OtherNode> {
  if (version === process.versions.node) return { version, file: process.execPath };
  const home = join(folder, version);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'package.json'), '{ "private": true }');
  const carrier = nodePackage();
  await must({ cwd: home, env: process.env }, 'npm', 'install', '--silent', `${carrier}@${version}`);
  return { version, file: join(home, 'node_modules', carrier, 'bin', 'node') };
}

/** How npm reaches its registry is the machine's business; everything else that `npm run` sets is about this repository. */
const kept = /^npm_config_(?:registry|userconfig|cafile|proxy|https_proxy|noproxy|strict_ssl)$/i;

/** The environment of somebody whose Node this is: none of this repository's programs come first. */
export function environmentOf({ file }: OtherNode, home: string): NodeJS.ProcessEnv {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((part) => !part.includes('node_modules'));
  const cache = process.env['npm_config_cache'] ?? join(process.env['HOME'] ?? home, '.npm');
  const inherited = Object.entries(process.env).filter(
    ([name]) => kept.test(name) || !/^npm_|^NODE_|^INIT_CWD$/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    PATH: [dirname(file), ...path].join(delimiter),
    HOME: home,
    npm_config_cache: cache,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
}
