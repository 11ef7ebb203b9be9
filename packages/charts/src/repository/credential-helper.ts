import { spawn } from 'node:child_process';

import type { RepositoryCredentials } from './docker-credentials.ts';
import { RepositoryError } from './repository-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const longestMs = 30_000;
const mostOutput = 65_536;

/** What a helper says when it has none; it is its answer, not a failure. */
const notFound = /credentials not found/i;

/**
 * Asks `docker-credential-NAME get` who we are to a server. The address goes in and the secret comes out by pipes: neither
 * stands on a command line, and nothing the program prints becomes part of an error.
 */
export async function askHelper(
  name: string,
  server: string,
  env: Environment,
): Promise<RepositoryCredentials | undefined> {
  const program = `docker-credential-${name}`;
  const fail = (what: string, cause?: unknown) =>
    new RepositoryError('Refused', `${program} ${what}`, {
      cause,
      hint: `the registry configuration names it for ${server}: install it, or log in with \`helm registry login\``,
    });
  if (!/^[\w.-]+$/.test(name)) throw fail('is no name of a program');
  const { code, output } = await run(program, server, env).catch((cause: unknown) => {
    const { code: reason } = cause as NodeJS.ErrnoException;
    throw fail(reason === 'ENOENT' ? 'was not found' : 'could not be run', cause);
  });
  if (code !== 0) {
    if (notFound.test(output)) return undefined;
    throw fail(code === null ? 'was ended: it printed too much, or took too long' : `ended with exit code ${code}`);
  }
  const { Username: username, Secret: password } = answerIn(output) ?? {};
  if (typeof username !== 'string' || typeof password !== 'string') throw fail('printed no credentials');
  if (username === '' && password === '') return undefined;
  if (username === '<token>') throw fail('knows only an identity token, which cannot be used here');
  return { username, password };
}

function answerIn(output: string): { readonly Username?: unknown; readonly Secret?: unknown } | null | undefined {
  try {
    return JSON.parse(output) as { Username?: unknown };
  } catch {
    return undefined;
  }
}

function run(program: string, input: string, env: Environment): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['get'], {
      env: { ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: longestMs,
      windowsHide: true,
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > mostOutput) child.kill('SIGKILL');
    });
    // A program that does not read what it is asked answers anyway.
    child.stdin.on('error', () => undefined).end(input);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
