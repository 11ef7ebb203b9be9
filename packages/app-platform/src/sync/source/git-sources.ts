import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@slipway/kube';

import type { GitCredentials } from '../../git/credentials.ts';
import { GitError } from '../../git/git-error.ts';
import { runGit } from '../../git/git-process.ts';
import { remoteRefs, type GitRemote } from '../../git/remote-head.ts';
import { isCommit, resolveRevision, type ResolvedRevision } from './git-revision.ts';

export interface GitSourcesOptions {
  /** Where checkouts are kept. Losing it costs a fetch each. */
  readonly directory: string;
  readonly clock: Clock;
  /** How long an answer about a branch counts, in milliseconds. */
  readonly refreshMs: number;
  readonly timeoutMs: number;
  /** Checkouts of one repository that are kept for the next pass. Default 5. */
  readonly keep?: number;
}

/** Where the files of Applications come from. */
export type SourceStore = Pick<GitSources, 'resolve' | 'use' | 'forget'>;

interface Answer {
  readonly at: number;
  readonly refs: ReadonlyMap<string, string>;
}

const usuallyKept = 5;

/** Repositories that Applications name: which commit a revision is, and its files. A commit never changes, so a checkout is made once. */
export class GitSources {
  readonly #options: GitSourcesOptions;
  readonly #answers = new Map<string, Answer>();
  readonly #checkouts = new Map<string, Promise<string>>();
  readonly #users = new Map<string, number>();

  constructor(options: GitSourcesOptions) {
    this.#options = options;
  }

  /** Forgets what branches are at: somebody says that one has moved. */
  forget(isMeant: (url: string) => boolean = () => true): void {
    for (const url of this.#answers.keys()) if (isMeant(url)) this.#answers.delete(url);
  }

  /** The commit of a revision. One answer of the server serves every Application of a repository. */
  async resolve(
    url: string,
    revision: string,
    credentials: () => Promise<GitCredentials | undefined>,
    signal: AbortSignal,
  ): Promise<ResolvedRevision> {
    if (isCommit(revision)) return { commit: revision, ref: revision };
    const known = this.#answers.get(url);
    if (known && this.#now() - known.at < this.#options.refreshMs) return resolveRevision(known.refs, revision);
    await using remote = remoteRefs(remoteOf(url, await credentials()), { timeoutMs: this.#options.timeoutMs });
    const refs = await remote.read(signal);
    this.#answers.set(url, { at: this.#now(), refs });
    return resolveRevision(refs, revision);
  }

  /** Runs `work` over the files of a commit, which stay where they are until it is done. */
  async use<T>(
    url: string,
    { commit, ref }: ResolvedRevision,
    credentials: () => Promise<GitCredentials | undefined>,
    signal: AbortSignal,
    work: (directory: string) => Promise<T>,
  ): Promise<T> {
    const repository = join(this.#options.directory, createHash('sha256').update(url).digest('hex').slice(0, 16));
    const target = join(repository, commit);
    const users = this.#users.get(target) ?? 0;
    // The order of the keys is the order of use.
    this.#users.delete(target);
    this.#users.set(target, users + 1);
    try {
      let checkout = this.#checkouts.get(target);
      if (!checkout) {
        checkout = this.#checkOut(remoteOf(url, await credentials()), { commit, ref }, target, signal);
        this.#checkouts.set(target, checkout);
      }
      try {
        await checkout;
      } catch (error) {
        this.#checkouts.delete(target);
        // A branch that moved between the answer and the fetch is asked for again.
        this.#answers.delete(url);
        throw error;
      }
      return await work(target);
    } finally {
      this.#users.set(target, this.#users.get(target)! - 1);
      await this.#dropOld(repository);
    }
  }

  async #checkOut(
    remote: GitRemote,
    { commit, ref }: ResolvedRevision,
    target: string,
    signal: AbortSignal,
  ): Promise<string> {
    // Made aside and moved: what is there under the name of a commit is whole, also after a crash.
    if (await stat(target).catch(() => undefined)) return target;
    const aside = `${target}.new`;
    await rm(aside, { recursive: true, force: true });
    await mkdir(aside, { recursive: true });
    const options = { cwd: aside, timeoutMs: this.#options.timeoutMs, signal };
    await runGit(['init', '--quiet', '.'], options);
    await runGit(['fetch', '--quiet', '--depth=1', '--no-tags', '--end-of-options', remote.url, ref], {
      ...options,
      remote,
    });
    const { stdout } = await runGit(['rev-parse', '--verify', 'FETCH_HEAD^{commit}'], options);
    if (stdout.trim() !== commit) throw new GitError('Failed', `${ref} moved while it was fetched`);
    await runGit(['checkout', '--quiet', '--force', '--detach', commit], options);
    await rm(join(aside, '.git'), { recursive: true });
    await rename(aside, target);
    return target;
  }

  /** Removes the checkouts nobody has asked for lately, those of an earlier process first. */
  async #dropOld(repository: string): Promise<void> {
    const present = await readdir(repository).catch(() => []);
    const order = [...this.#users.keys()];
    const idle = present
      .map((name) => join(repository, name))
      .filter((path) => !path.endsWith('.new') && (this.#users.get(path) ?? 0) === 0)
      .sort((a, b) => order.indexOf(a) - order.indexOf(b));
    const { keep = usuallyKept } = this.#options;
    for (const path of idle.slice(0, Math.max(0, idle.length - keep))) {
      this.#checkouts.delete(path);
      this.#users.delete(path);
      await rm(path, { recursive: true, force: true });
    }
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}

function remoteOf(url: string, credentials: GitCredentials | undefined): GitRemote {
  return credentials ? { url, credentials } : { url };
}
