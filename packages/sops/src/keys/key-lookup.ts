import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { SopsError } from '../sops-error.ts';
import { isIdentity, isSshRecipient, openWithPassphrase, recipientOf } from './age-keys.ts';
import { readSshPrivateKey } from './ssh-private-key.ts';
import { shellWords } from './shell-words.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where keys may be. */
export interface KeyLookupOptions {
  /** Default: the environment of the process. */
  readonly env?: Environment;
  /** Home folder. Default: the user's. */
  readonly home?: string;
  /** Default: that of this machine. */
  readonly platform?: NodeJS.Platform;
  /**
   * For whom the file is: the commands of `SOPS_AGE_KEY_CMD` and `SOPS_AGE_SSH_PRIVATE_KEY_CMD` are run once for each, with it in
   * `SOPS_AGE_RECIPIENT`. Default: once, without. What is known to be of no use for them is not looked for.
   */
  readonly recipients?: readonly string[];
  /** Is told what is wrong with one place when others have identities. When none has, it is thrown. */
  readonly onProblem?: (problem: SopsError) => void;
  /** Answers the passphrase of a key file, undefined when there is nobody to ask. Default: nobody. */
  readonly askPassphrase?: (question: string) => Promise<string | undefined>;
}

/** A place whose identities are encrypted with a passphrase. */
interface Locked {
  readonly where: string;
  readonly content: Buffer;
}

/**
 * Every age identity this user has, found as sops finds them: SSH keys in `SOPS_AGE_SSH_PRIVATE_KEY_FILE`, `SOPS_AGE_SSH_PRIVATE_KEY_CMD`
 * and `.ssh`, age keys in `SOPS_AGE_KEY`, `SOPS_AGE_KEY_FILE`, `SOPS_AGE_KEY_CMD` and `sops/age/keys.txt` in the configuration folder,
 * taken together. A place that cannot be read does not stand in the way of another, and for a passphrase is asked only when nothing else fits.
 */
export async function findAgeIdentities(options: KeyLookupOptions = {}): Promise<string[]> {
  const env = options.env ?? process.env;
  const platform = options.platform ?? process.platform;
  const home = options.home ?? (env[platform === 'win32' ? 'USERPROFILE' : 'HOME'] || homedir());
  const { recipients = [] } = options;
  const found: string[] = [];
  const problems: SopsError[] = [];
  const locked: Locked[] = [];
  const take = async (place: () => Promise<string[] | Locked>, told: SopsError[]): Promise<void> => {
    try {
      const taken = await place();
      if (Array.isArray(taken)) found.push(...taken);
      else locked.push(taken);
    } catch (error) {
      if (!(error instanceof SopsError)) throw error;
      told.push(error);
    }
  };
  for (const place of namedPlaces(env, recipients)) await take(place, problems);
  const own = join(configurationFolder(env, home, platform), 'sops', 'age', 'keys.txt');
  await take(async () => await inOwnFile(own), problems);
  // Most people have them for something else, which is then nothing to complain about.
  const ofOwnSshKeys: SopsError[] = [];
  if (recipients.length === 0 || recipients.some(isSshRecipient)) {
    for (const name of ['id_ed25519', 'id_rsa']) {
      await take(async () => await sshKeyInFile(join(home, '.ssh', name), ifThere), ofOwnSshKeys);
    }
  }
  if (locked.length + ofOwnSshKeys.length > 0 && !(await fits(found, recipients))) {
    for (const place of locked) await take(async () => await unlocked(place, options), problems);
    if (recipients.length > 0 && !(await fits(found, recipients))) problems.push(...ofOwnSshKeys);
  }
  if (found.length === 0 && problems.length > 0) throw problems[0];
  if (options.onProblem) for (const problem of problems) options.onProblem(problem);
  return [...new Set(found)];
}

function namedPlaces(env: Environment, recipients: readonly string[]): (() => Promise<string[] | Locked>)[] {
  const keyFile = env['SOPS_AGE_KEY_FILE'];
  const sshFile = env['SOPS_AGE_SSH_PRIVATE_KEY_FILE'];
  return [
    async () => await sshKeyInFile(sshFile, inVariable('SOPS_AGE_SSH_PRIVATE_KEY_FILE')),
    ...commandRuns('SOPS_AGE_SSH_PRIVATE_KEY_CMD', env, recipients, sshKeyIn),
    async () => identitiesOrLocked(Buffer.from(env['SOPS_AGE_KEY'] ?? ''), 'SOPS_AGE_KEY'),
    async () => {
      const content = await contentOf(keyFile, inVariable('SOPS_AGE_KEY_FILE'));
      return content ? identitiesOrLocked(content, keyFile!) : [];
    },
    ...commandRuns('SOPS_AGE_KEY_CMD', env, recipients, identitiesOrLocked),
  ];
}

async function inOwnFile(file: string): Promise<string[] | Locked> {
  const content = await contentOf(file, ifThere);
  return content ? identitiesOrLocked(content, file) : [];
}

async function sshKeyInFile(file: string | undefined, onError: OnError): Promise<string[]> {
  const content = await contentOf(file, onError);
  return content ? sshKeyIn(content, file!) : [];
}

/** The private key as it stands there, once it is known to be one. */
function sshKeyIn(content: Buffer, where: string): string[] {
  const text = content.toString('latin1');
  const key = text.slice(Math.max(text.indexOf('-----BEGIN '), 0));
  readSshPrivateKey(key, where);
  return [key];
}

type OnError = (file: string, error: NodeJS.ErrnoException) => undefined;

function inVariable(name: string): OnError {
  return (file, cause) => {
    throw new SopsError('config', `${name}: cannot read ${file} (${cause.code})`, { cause });
  };
}

/** For a file nobody named. */
function ifThere(file: string, cause: NodeJS.ErrnoException): undefined {
  if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return undefined;
  throw new SopsError('config', `cannot read ${file} (${cause.code})`, { cause });
}

/** As sops has it, for key files behind a passphrase. */
const maxKeyFile = 16 * 1024 * 1024;

async function contentOf(file: string | undefined, onError: OnError): Promise<Buffer | undefined> {
  if (!file) return undefined;
  try {
    const content = await buffer(createReadStream(file, { end: maxKeyFile }));
    if (content.length <= maxKeyFile) return content;
  } catch (error) {
    return onError(file, error as NodeJS.ErrnoException);
  }
  throw new SopsError('config', `${file}: too large for keys`);
}

function commandRuns(
  name: string,
  env: Environment,
  recipients: readonly string[],
  read: (output: Buffer, where: string) => string[] | Locked,
): (() => Promise<string[] | Locked>)[] {
  const command = env[name];
  if (!command) return [];
  const environments =
    recipients.length === 0 ? [env] : recipients.map((recipient) => ({ ...env, SOPS_AGE_RECIPIENT: recipient }));
  return environments.map((each) => async () => read(await outputOf(name, command, each), name));
}

/** Whether one of the identities is for one of the recipients. */
async function fits(identities: readonly string[], recipients: readonly string[]): Promise<boolean> {
  const wanted = new Set(recipients.map((recipient) => recipient.split(/[ \t]+/, 2).join(' ')));
  for (const identity of identities) {
    if (!identity.startsWith('AGE-PLUGIN-') && wanted.has(await recipientOf(identity))) return true;
  }
  return false;
}

async function unlocked({ where, content }: Locked, { askPassphrase }: KeyLookupOptions): Promise<string[]> {
  const passphrase = await askPassphrase?.(`Enter passphrase for identity '${where}':`);
  if (passphrase === undefined) {
    throw new SopsError('unsupported', `${where}: the identities are encrypted with a passphrase`, {
      hint: 'call it at a terminal, or decrypt them with the age command into SOPS_AGE_KEY',
    });
  }
  const text = await openWithPassphrase(content, passphrase).catch(() => {
    throw new SopsError('config', `${where}: the passphrase does not open it`);
  });
  return identitiesIn(text, where);
}

function identitiesOrLocked(content: Buffer, where: string): string[] | Locked {
  return isBehindPassphrase(content.toString('latin1'))
    ? { where, content }
    : identitiesIn(content.toString('utf8'), where);
}

function isBehindPassphrase(text: string): boolean {
  return /^(age-encryption\.org\/|-----BEGIN AGE ENCRYPTED FILE-----)/.test(text);
}

/** The identities of a key file: one a line, comments with `#`. Those of age plugins are among them, though they open nothing here. */
export function identitiesIn(text: string, where: string): string[] {
  if (isBehindPassphrase(text)) {
    throw new SopsError('unsupported', `${where}: the identities are encrypted with a passphrase`, {
      hint: 'decrypt them with the age command first',
    });
  }
  const found: string[] = [];
  text.split('\n').forEach((line, index) => {
    for (const word of line.replace(/#.*/, '').split(/[\s,]+/)) {
      if (word === '') continue;
      if (!/^AGE-(SECRET-KEY|PLUGIN)-/.test(word)) {
        throw new SopsError('config', `${where}, line ${index + 1}: not an age identity`, {
          hint: 'age keys begin with AGE-SECRET-KEY-; an SSH key is taken from SOPS_AGE_SSH_PRIVATE_KEY_FILE',
        });
      }
      if (!isIdentity(word)) {
        throw new SopsError('config', `${where}, line ${index + 1}: the age identity is damaged`, {
          hint: 'a character was lost or changed; take it from where it was copied',
        });
      }
      found.push(word);
    }
  });
  return found;
}

function configurationFolder(env: Environment, home: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') {
    // Windows minds no case in names; a copy of its environment does.
    const name = Object.keys(env).find((key) => key.toLowerCase() === 'appdata');
    return (name && env[name]) || join(home, 'AppData', 'Roaming');
  }
  if (env['XDG_CONFIG_HOME']) return env['XDG_CONFIG_HOME'];
  return platform === 'darwin' ? join(home, 'Library', 'Application Support') : join(home, '.config');
}

async function outputOf(name: string, command: string, env: Environment): Promise<Buffer> {
  const [program = '', ...args] = shellWords(command);
  try {
    const options = { env: { ...env }, maxBuffer: 1_048_576, encoding: 'buffer' } as const;
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { code } = error as { code?: unknown };
    // Neither its output nor its error text: both may hold a key.
    throw new SopsError('config', `${name}: ${program} failed (${String(code)})`);
  }
}
