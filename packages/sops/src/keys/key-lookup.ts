import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { SopsError } from '../sops-error.ts';

export interface KeyLookupOptions {
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Home folder. Default: the user's. */
  readonly home?: string;
}

/**
 * Every age identity this user has, found as sops finds them: `SOPS_AGE_KEY`, `SOPS_AGE_KEY_FILE`, `SOPS_AGE_KEY_CMD` and
 * `sops/age/keys.txt` in the configuration folder, taken together.
 */
export async function findAgeIdentities(options: KeyLookupOptions = {}): Promise<string[]> {
  const env = options.env ?? process.env;
  const found: string[] = [];
  if (env['SOPS_AGE_KEY'] !== undefined) found.push(...identitiesIn(env['SOPS_AGE_KEY'], 'SOPS_AGE_KEY'));
  const file = env['SOPS_AGE_KEY_FILE'];
  if (file) {
    const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      throw new SopsError('config', `SOPS_AGE_KEY_FILE: cannot read ${file} (${cause.code})`, { cause });
    });
    found.push(...identitiesIn(text, file));
  }
  const command = env['SOPS_AGE_KEY_CMD'];
  if (command) found.push(...identitiesIn(await outputOf(command, env), 'SOPS_AGE_KEY_CMD'));
  const own = join(configurationFolder(env, options.home ?? homedir()), 'sops', 'age', 'keys.txt');
  const text = await readFile(own, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
    throw new SopsError('config', `cannot read ${own} (${error.code})`, { cause: error });
  });
  found.push(...identitiesIn(text, own));
  return [...new Set(found)];
}

/** The identities of a key file: one a line, comments with `#`. */
export function identitiesIn(text: string, where: string): string[] {
  const found: string[] = [];
  text.split('\n').forEach((line, index) => {
    for (const word of line.replace(/#.*/, '').split(/[\s,]+/)) {
      if (word === '') continue;
      if (!word.startsWith('AGE-SECRET-KEY-')) {
        throw new SopsError('config', `${where}, line ${index + 1}: not an age identity`, {
          hint: 'only native age keys (AGE-SECRET-KEY-…) are supported, not SSH keys or plugins',
        });
      }
      found.push(word);
    }
  });
  return found;
}

function configurationFolder(env: Readonly<Record<string, string | undefined>>, home: string): string {
  if (env['XDG_CONFIG_HOME']) return env['XDG_CONFIG_HOME'];
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (process.platform === 'win32' && env['AppData']) return env['AppData'];
  return join(home, '.config');
}

async function outputOf(command: string, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const [program = '', ...args] =
    command.match(/"[^"]*"|'[^']*'|\S+/g)?.map((word) => word.replace(/^(["'])(.*)\1$/, '$2')) ?? [];
  try {
    return (await promisify(execFile)(program, args, { env: { ...env }, maxBuffer: 1_048_576 })).stdout;
  } catch (error) {
    const { code } = error as { code?: unknown };
    // Neither its output nor its error text: both may hold a key.
    throw new SopsError('config', `SOPS_AGE_KEY_CMD: ${program} failed (${String(code)})`);
  }
}
