import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { SopsError } from '../sops-error.ts';
import { shellWords } from './shell-words.ts';

export interface KeyLookupOptions {
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Home folder. Default: the user's. */
  readonly home?: string;
  /** Default: that of this machine. */
  readonly platform?: NodeJS.Platform;
  /** For whom the file is: `SOPS_AGE_KEY_CMD` is run once for each, with it in `SOPS_AGE_RECIPIENT`. Default: once, without. */
  readonly recipients?: readonly string[];
  /** Is told what is wrong with one place when others have identities. When none has, it is thrown. */
  readonly onProblem?: (problem: SopsError) => void;
}

/**
 * Every age identity this user has, found as sops finds them: `SOPS_AGE_KEY`, `SOPS_AGE_KEY_FILE`, `SOPS_AGE_KEY_CMD` and
 * `sops/age/keys.txt` in the configuration folder, taken together. A place that cannot be read does not stand in the way of another.
 */
export async function findAgeIdentities(options: KeyLookupOptions = {}): Promise<string[]> {
  const env = options.env ?? process.env;
  const folder = configurationFolder(env, options.home ?? homedir(), options.platform ?? process.platform);
  const own = join(folder, 'sops', 'age', 'keys.txt');
  const places = [
    async () => identitiesIn(env['SOPS_AGE_KEY'] ?? '', 'SOPS_AGE_KEY'),
    async () => await inNamedFile(env['SOPS_AGE_KEY_FILE']),
    ...commandRuns(env, options.recipients ?? []),
    async () => await inOwnFile(own),
  ];
  const found: string[] = [];
  const problems = sshPlaces.filter((name) => env[name]).map((name) => noSshKey(name));
  for (const place of places) {
    try {
      found.push(...(await place()));
    } catch (error) {
      if (!(error instanceof SopsError)) throw error;
      problems.push(error);
    }
  }
  if (found.length === 0 && problems.length > 0) throw problems[0];
  if (options.onProblem) for (const problem of problems) options.onProblem(problem);
  return [...new Set(found)];
}

/** Where sops looks for SSH keys besides. */
const sshPlaces = ['SOPS_AGE_SSH_PRIVATE_KEY_FILE', 'SOPS_AGE_SSH_PRIVATE_KEY_CMD'];

function noSshKey(place: string): SopsError {
  return new SopsError('unsupported', `${place}: SSH keys cannot be used here`, {
    hint: 'use an age key (slipway sops keygen makes one), or the sops command',
  });
}

async function inNamedFile(file: string | undefined): Promise<string[]> {
  if (!file) return [];
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new SopsError('config', `SOPS_AGE_KEY_FILE: cannot read ${file} (${cause.code})`, { cause });
  });
  return identitiesIn(text, file);
}

async function inOwnFile(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
    throw new SopsError('config', `cannot read ${file} (${error.code})`, { cause: error });
  });
  return identitiesIn(text, file);
}

function commandRuns(
  env: Readonly<Record<string, string | undefined>>,
  recipients: readonly string[],
): (() => Promise<string[]>)[] {
  const command = env['SOPS_AGE_KEY_CMD'];
  if (!command) return [];
  const environments =
    recipients.length === 0 ? [env] : recipients.map((name) => ({ ...env, SOPS_AGE_RECIPIENT: name }));
  return environments.map((each) => async () => identitiesIn(await outputOf(command, each), 'SOPS_AGE_KEY_CMD'));
}

/** The identities of a key file: one a line, comments with `#`. Those of age plugins are among them, though they open nothing here. */
export function identitiesIn(text: string, where: string): string[] {
  if (/^(age-encryption\.org\/|-----BEGIN AGE ENCRYPTED FILE-----)/.test(text)) {
    throw new SopsError('unsupported', `${where}: the identities are encrypted with a passphrase`, {
      hint: 'decrypt them with the age command into SOPS_AGE_KEY, or use the sops command',
    });
  }
  const found: string[] = [];
  text.split('\n').forEach((line, index) => {
    for (const word of line.replace(/#.*/, '').split(/[\s,]+/)) {
      if (word === '') continue;
      if (!/^AGE-(SECRET-KEY|PLUGIN)-/.test(word)) {
        throw new SopsError('config', `${where}, line ${index + 1}: not an age identity`, {
          hint: 'only native age keys (AGE-SECRET-KEY-…) are supported, not SSH keys',
        });
      }
      found.push(word);
    }
  });
  return found;
}

function configurationFolder(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
  platform: NodeJS.Platform,
): string {
  if (platform === 'win32') {
    // Windows minds no case in names; a copy of its environment does.
    const name = Object.keys(env).find((key) => key.toLowerCase() === 'appdata');
    return (name && env[name]) || join(home, 'AppData', 'Roaming');
  }
  if (env['XDG_CONFIG_HOME']) return env['XDG_CONFIG_HOME'];
  return platform === 'darwin' ? join(home, 'Library', 'Application Support') : join(home, '.config');
}

async function outputOf(command: string, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const [program = '', ...args] = shellWords(command);
  try {
    return (await promisify(execFile)(program, args, { env: { ...env }, maxBuffer: 1_048_576 })).stdout;
  } catch (error) {
    const { code } = error as { code?: unknown };
    // Neither its output nor its error text: both may hold a key.
    throw new SopsError('config', `SOPS_AGE_KEY_CMD: ${program} failed (${String(code)})`);
  }
}
