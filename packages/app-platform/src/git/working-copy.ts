import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { GitError } from './git-error.ts';
import { runGit, type GitAnswer, type GitOptions, type GitRunner } from './git-process.ts';
import { decryptedPattern, encryptedOf, isDecrypted } from '../values/kinds.ts';
import { temporaryPattern } from '../values/write-file.ts';
import { FilesOnDisk } from './files-on-disk.ts';
import { readRef } from './read-ref.ts';
import type { GitRemote } from './remote-head.ts';

export interface WorkingCopyOptions {
  readonly directory: string;
  readonly remote: GitRemote;
  readonly branch: string;
  /** Who commits. */
  readonly identity: { readonly name: string; readonly email: string };
  readonly timeoutMs?: number;
  /** Default: the `git` of the machine. */
  readonly run?: GitRunner;
}

/** A file as a commit has it. */
export interface TreeEntry {
  readonly mode: string;
  /** The same for the same content. */
  readonly id: string;
  readonly path: string;
}

/** A checkout of the values repository. Whoever uses it has it alone: see {@link WorkingCopy.exclusive}. */
export class WorkingCopy {
  readonly directory: string;
  readonly branch: string;
  readonly #options: WorkingCopyOptions;
  #turn: Promise<unknown> = Promise.resolve();
  #prepared = false;
  /** The files as they were when there was nothing to commit. */
  #unchanged: { readonly commit: string; readonly stamps: ReadonlyMap<string, string> } | undefined;
  #tree: { readonly commit: string; readonly entries: readonly TreeEntry[] } | undefined;

  constructor(options: WorkingCopyOptions) {
    this.#options = options;
    this.directory = options.directory;
    this.branch = options.branch;
  }

  /** Runs `work` when everything that asked before is done: files never change under the one who reads them. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async git(args: readonly string[], options: Partial<GitOptions> = {}): Promise<GitAnswer> {
    const { directory, timeoutMs, run = runGit } = this.#options;
    try {
      return await run(args, {
        cwd: directory,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...options,
        // Whoever can push could otherwise have us read and write anywhere on the machine.
        settings: { ...options.settings, 'core.symlinks': 'false' },
      });
    } catch (error) {
      // It was killed: what it held is nobody's now.
      const isKilled = error instanceof GitError && (error.code === 'Timeout' || error.code === 'Killed');
      if (options.signal?.aborted || isKilled) await this.#removeLocks();
      throw error;
    }
  }

  /** A call that goes to the server. */
  async atRemote(args: readonly string[], options: Partial<GitOptions> = {}): Promise<GitAnswer> {
    return await this.git(args, { remote: this.#options.remote, ...options });
  }

  /**
   * Makes it a repository with our identity and `origin`, whatever was there before: nothing, or what a process left that died in the
   * middle of a git command. The URL holds no credentials. Once is enough for as long as the folder stays.
   */
  async prepare(): Promise<void> {
    const { directory, remote, identity, branch } = this.#options;
    if (this.#prepared && (await exists(join(directory, '.git')))) return;
    await mkdir(directory, { recursive: true });
    await this.#removeLocks();
    // Safe on a repository that is there, and needed on one whose making was interrupted.
    await this.git(['init', '--quiet', `--initial-branch=${branch}`, '.']);
    await this.git(['config', 'user.name', identity.name]);
    await this.git(['config', 'user.email', identity.email]);
    const { exitCode } = await this.git(['remote', 'get-url', 'origin'], { accept: [0, 2] });
    await this.git(['remote', exitCode === 0 ? 'set-url' : 'add', 'origin', remote.url]);
    await mkdir(join(directory, '.git', 'info'), { recursive: true });
    await writeFile(join(directory, '.git', 'info', 'exclude'), `${temporaryPattern}\n${decryptedPattern}\n`);
    this.#prepared = true;
  }

  /** Git that was killed leaves its locks behind, and every later call would wait for a process that is gone. We are alone here. */
  async #removeLocks(): Promise<void> {
    const entries = await readdir(join(this.directory, '.git'), { recursive: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.endsWith('.lock')) await rm(join(this.directory, '.git', entry), { force: true });
    }
  }

  /** The commit of the checkout, or `undefined` before the first. */
  async revision(): Promise<string | undefined> {
    return await this.#commitOf('HEAD');
  }

  /** The commit our branch has on the server, or `undefined` when it is not there. */
  async remoteRevision(signal?: AbortSignal): Promise<string | undefined> {
    const { stdout } = await this.atRemote(
      ['ls-remote', '--heads', 'origin', `refs/heads/${this.branch}`],
      signal ? { signal } : {},
    );
    return stdout.split('\t')[0] || undefined;
  }

  /** The commit our branch had on the server when we last fetched or pushed. */
  async fetchedRevision(): Promise<string | undefined> {
    return await this.#commitOf(`refs/remotes/origin/${this.branch}`);
  }

  async #commitOf(ref: string): Promise<string | undefined> {
    const known = await readRef(this.directory, ref);
    if (known !== undefined) return known;
    const { stdout, exitCode } = await this.git(['rev-parse', '--verify', '--quiet', ref], { accept: [0, 1, 128] });
    return exitCode === 0 ? stdout.trim() : undefined;
  }

  /** Takes over what the server has. Leftovers of an apply that failed vanish, a forced push is followed. */
  async takeRemote(signal?: AbortSignal): Promise<void> {
    await this.fetch(signal);
    await this.checkOut(signal);
  }

  /** Asks the server for our branch; the files stay as they are. Gives its commit. */
  async fetch(signal?: AbortSignal): Promise<string | undefined> {
    await this.abandonMerges();
    await this.atRemote(
      ['fetch', '--quiet', '--no-tags', 'origin', `+refs/heads/${this.branch}:refs/remotes/origin/${this.branch}`],
      // The older protocol names the branches in its first answer; the newer one takes a request more for that.
      { ...(signal ? { signal } : {}), settings: { 'protocol.version': '0' } },
    );
    return await this.fetchedRevision();
  }

  /** The files of what was fetched, whatever was there before. */
  async checkOut(signal?: AbortSignal): Promise<void> {
    const args = ['checkout', '--quiet', '--force', '-B', this.branch, `origin/${this.branch}`];
    await this.git(args, signal ? { signal } : {});
  }

  /**
   * Removes what is not in Git, ignored or not: neither a decrypted file nor what an apply that failed had written must outlive the team
   * or user it belongs to. The decrypted file of a secret that is there may stay: whoever decrypts compares it first. Where there is nothing
   * else, there is nothing for git to do.
   */
  async removeUntracked(): Promise<void> {
    const commit = await this.revision();
    const tracked = new Set((await this.entries('.')).map(({ path }) => path));
    const mayStay = (path: string): boolean => isDecrypted(path) && tracked.has(encryptedOf(path));
    if (!new FilesOnDisk(this.directory).hasOnly(tracked, mayStay))
      await this.git(['clean', '--quiet', '-ff', '-d', '-x']);
    this.#unchanged = commit === undefined ? undefined : { commit, stamps: this.#stamps() };
  }

  /** Whether there may be something to commit. Where no file was replaced since there was nothing, there is nothing: git is not asked. */
  async hasChanges(): Promise<boolean> {
    const commit = await this.revision();
    const stamps = this.#stamps();
    const { commit: last, stamps: before } = this.#unchanged ?? {};
    if (commit !== undefined && commit === last && isDeepStrictEqual(stamps, before)) return false;
    const { stdout } = await this.git(['status', '--porcelain', '--untracked-files=normal']);
    this.#unchanged = stdout === '' && commit !== undefined ? { commit, stamps } : undefined;
    return stdout !== '';
  }

  /** Decrypted files do not count: they are never committed. */
  #stamps(): ReadonlyMap<string, string> {
    return new FilesOnDisk(this.directory).stamps((path) => !isDecrypted(path));
  }

  /** What a commit has below a folder; `.` is all of it. A commit never changes: git is asked once for each. Default: that of the checkout. */
  async entries(folder: string, of?: string): Promise<readonly TreeEntry[]> {
    const commit = of ?? (await this.revision());
    if (commit === undefined) return [];
    if (this.#tree?.commit !== commit) this.#tree = { commit, entries: await this.#entriesOf(commit) };
    const { entries } = this.#tree;
    return folder === '.' ? entries : entries.filter(({ path }) => path.startsWith(`${folder}/`));
  }

  async #entriesOf(commit: string): Promise<TreeEntry[]> {
    const { stdout } = await this.git(['ls-tree', '-r', '-z', '--end-of-options', commit]);
    return stdout
      .split('\0')
      .filter(Boolean)
      .map((line) => {
        const [info, path] = [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)];
        const [mode = '', , id = ''] = info.split(' ');
        return { mode, id, path };
      });
  }

  /** Subject lines of the commits on one side only; `undefined` when one of the two is not here. */
  async subjects(from: string, to: string): Promise<string[] | undefined> {
    const { stdout, exitCode } = await this.git(['log', '--format=%s', `${from}...${to}`, '--'], { accept: [0, 128] });
    return exitCode === 0 ? stdout.split('\n').filter(Boolean) : undefined;
  }

  /** Whether a commit is in the history of the checkout. */
  async contains(commit: string): Promise<boolean> {
    const { exitCode } = await this.git(['merge-base', '--is-ancestor', commit, 'HEAD'], { accept: [0, 1, 128] });
    return exitCode === 0;
  }

  /** Whether a merge or rebase stopped at files that both sides changed. */
  async isInConflict(): Promise<boolean> {
    const { stdout } = await this.git(['diff', '--name-only', '--diff-filter=U']);
    return stdout !== '';
  }

  async abandonMerges(): Promise<void> {
    const begun = async (...names: string[]): Promise<boolean> =>
      (await Promise.all(names.map((name) => exists(join(this.directory, '.git', name))))).some(Boolean);
    if (await begun('MERGE_HEAD')) await this.git(['merge', '--abort'], { accept: [0, 128] });
    if (await begun('rebase-merge', 'rebase-apply')) await this.git(['rebase', '--abort'], { accept: [0, 128] });
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
