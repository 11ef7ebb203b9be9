import { undiciTransport, type Clock, type Transport } from '@slipway/kube';

import { basicAuthorization } from './credentials.ts';
import { GitError } from './git-error.ts';
import { runGit, type GitOptions } from './git-process.ts';

export type GitRemote = NonNullable<GitOptions['remote']>;

/** Asks a server for its branches. An idle operator does nothing else, and starts no process for it. */
export interface RemoteHeads extends AsyncDisposable {
  /** The commit each branch is at, by name; empty for a repository without commits. */
  read(signal?: AbortSignal): Promise<ReadonlyMap<string, string>>;
}

/** Asks a server for all its references. */
export interface RemoteRefs extends AsyncDisposable {
  /** The object each is at, by full name; tags that are objects of their own also with their commit, as `refs/tags/v1^{}`. */
  read(signal?: AbortSignal): Promise<ReadonlyMap<string, string>>;
}

interface RemoteOptions {
  readonly clock?: Clock;
  readonly timeoutMs?: number;
}

/** Asks by smart HTTP; a remote of another kind is asked with `git ls-remote`. */
export function remoteHeads(remote: GitRemote, options: RemoteOptions = {}): RemoteHeads {
  const refs = remoteRefs(remote, options);
  return {
    read: async (signal) => headsAmong(await refs.read(signal)),
    [Symbol.asyncDispose]: () => refs[Symbol.asyncDispose](),
  };
}

/** The same for all references. */
export function remoteRefs(remote: GitRemote, options: RemoteOptions = {}): RemoteRefs {
  return /^https?:/.test(remote.url) ? new HttpRefs(remote, options) : new ProcessRefs(remote, options.timeoutMs);
}

class HttpRefs implements RemoteRefs {
  readonly #transport: Transport;
  readonly #path: string;

  constructor({ url, credentials }: GitRemote, options: RemoteOptions) {
    const { origin, pathname } = new URL(url);
    const authorization = credentials && basicAuthorization(credentials);
    this.#path = `${pathname.replace(/\/$/, '')}/info/refs?service=git-upload-pack`;
    this.#transport = undiciTransport(
      {
        server: origin,
        ...(authorization
          ? { credentials: { current: async () => ({ authorization }), refused: async () => false } }
          : {}),
      },
      {
        requestTimeoutMs: options.timeoutMs ?? 10_000,
        maxConnections: 1,
        userAgent: 'git/slipway',
        ...(options.clock ? { clock: options.clock } : {}),
      },
    );
  }

  async read(signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const answer = await this.#transport.send({ method: 'GET', path: this.#path }, signal).catch((cause: unknown) => {
      if (signal?.aborted) throw cause;
      throw new GitError('Unreachable', 'the Git server does not answer', { cause });
    });
    if (answer.status === 401 || answer.status === 403)
      throw new GitError('Unauthorized', `the Git server refuses the credentials (${answer.status})`);
    if (answer.status === 404)
      throw new GitError(
        'NotFound',
        'the Git server has no such repository (404); restore it, or correct GIT_ORG and GIT_REPO',
      );
    if (answer.status !== 200) throw new GitError('Failed', `the Git server answered ${answer.status}`);
    return refsIn(answer.body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close();
  }
}

class ProcessRefs implements RemoteRefs {
  readonly #remote: GitRemote;
  readonly #timeoutMs: number | undefined;

  constructor(remote: GitRemote, timeoutMs: number | undefined) {
    this.#remote = remote;
    this.#timeoutMs = timeoutMs;
  }

  async read(signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const { stdout } = await runGit(['ls-remote', '--end-of-options', this.#remote.url], {
      cwd: '/',
      remote: this.#remote,
      ...(this.#timeoutMs === undefined ? {} : { timeoutMs: this.#timeoutMs }),
      ...(signal ? { signal } : {}),
    });
    return new Map(stdout.split('\n').flatMap((line) => refOfLine(line.split('\t'))));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** The branches in an advertisement of references. */
export function headsIn(advertisement: Buffer): Map<string, string> {
  return headsAmong(refsIn(advertisement));
}

/** What is in an advertisement of references: packets with four hexadecimal digits of length before each. */
export function refsIn(advertisement: Buffer): Map<string, string> {
  const refs = new Map<string, string>();
  let at = 0;
  while (at < advertisement.length) {
    const digits = advertisement.toString('latin1', at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (Number.isNaN(length) || length > advertisement.length - at || (length > 0 && length < 4))
      throw new GitError('Failed', 'the Git server answered something that is no list of references');
    // A zero length is a flush between the sections.
    const line = advertisement.toString('utf8', at + 4, at + Math.max(4, length));
    for (const [name, id] of refOfLine(line.replace(/\n$/, '').split('\0')[0]!.split(' '))) refs.set(name, id);
    at += Math.max(4, length);
  }
  return refs;
}

function refOfLine([id = '', ref = '']: readonly string[]): [string, string][] {
  return (ref === 'HEAD' || ref.startsWith('refs/')) && /^[0-9a-f]{40,64}$/.test(id) ? [[ref, id]] : [];
}

function headsAmong(refs: ReadonlyMap<string, string>): Map<string, string> {
  const prefix = 'refs/heads/';
  return new Map(
    [...refs].flatMap(([ref, commit]) => (ref.startsWith(prefix) ? [[ref.slice(prefix.length), commit] as const] : [])),
  );
}
