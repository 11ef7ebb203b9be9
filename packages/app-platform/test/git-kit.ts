import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock, type Clock } from '@slipway/kube';

import { startGitServer, type GitServer } from '../src/git-server/git-server.ts';
import type { GitRunner } from '../src/git/git-process.ts';
import { WorkingCopy } from '../src/git/working-copy.ts';
import { commitAtServer } from './commit-at-server.ts';

/** The password every test server asks for; it must turn up nowhere but in headers. */
export const canary = 'canary-p4ss:w/rd';
/** Part of every secret that tests write into values. */
export const clearSecret = 'hush-hush';
export const credentials = { username: 'otomi-admin', password: canary };

/** A Git server with an empty repository and a folder for everything a test writes. */
export interface GitWorld extends AsyncDisposable {
  readonly folder: string;
  readonly server: GitServer;
  /** A checkout of its own. */
  copy(name: string, run?: GitRunner): WorkingCopy;
  /** What the server refused because a secret was in it; empty when nothing was. */
  refusedPushes(): Promise<string>;
  /** Somebody commits files (`undefined` removes one, or a folder) and pushes them. Gives the commit. */
  push(files: Readonly<Record<string, string | undefined>>, message: string): Promise<string>;
}

export async function gitWorld(): Promise<GitWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-git-'));
  const server = await startGitServer({
    directory: join(folder, 'server'),
    repository: 'otomi/values.git',
    credentials,
  });
  await guardPushes(server.repository);
  const copy = (name: string, run?: GitRunner): WorkingCopy =>
    new WorkingCopy({
      directory: join(folder, name),
      remote: { url: server.url, credentials },
      branch: 'main',
      identity: { name, email: `${name}@example.com` },
      timeoutMs: 60_000,
      ...(run ? { run } : {}),
    });
  return {
    folder,
    server,
    copy,
    async push(files, message) {
      for (let tries = 0; ; tries += 1) {
        try {
          return await commitAtServer(server.repository, files, message);
        } catch (error) {
          // The operator was faster.
          if (tries === 20) throw error;
        }
      }
    },
    async refusedPushes() {
      return await readFile(join(server.repository, refusals), 'utf8').catch(() => '');
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const refusals = 'refused-pushes';

/**
 * A hook that looks at every commit of every push: what holds a secret in clear, or a decrypted file, is refused and written
 * down. It needs nothing but a shell and git: a program that is missing must not let a push through.
 */
async function guardPushes(repository: string): Promise<void> {
  const hook = join(repository, 'hooks', 'pre-receive');
  await mkdir(dirname(hook), { recursive: true });
  await writeFile(
    hook,
    `#!/bin/sh
set -e
refuse() {
  echo "$1" >>${refusals}
  echo 'a secret in clear' >&2
  exit 1
}
while read old new ref; do
  case "$new" in *[!0]*) ;; *) continue ;; esac
  commits=$(git log -p --format=%B "$new" --not --all)
  case "$commits" in
    *'${canary}'*) refuse '${canary}' ;;
    *'${clearSecret}'*) refuse '${clearSecret}' ;;
  esac
  decrypted=$(git log --name-only --format= "$new" --not --all -- '*.dec')
  case "$decrypted" in ?*) refuse "$decrypted" ;; esac
done
`,
  );
  await chmod(hook, 0o755);
}

export async function writeFiles(
  directory: string,
  files: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const target = join(directory, path);
    if (text === undefined) await rm(target, { recursive: true });
    else {
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text);
    }
  }
}

/** Waiting costs nothing: every timer is due at once. `waits` has the delays that were asked for. */
export function impatientClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic(),
    schedule(delayMs, callback) {
      waits.push(delayMs);
      const immediate = setImmediate(callback);
      return { cancel: () => clearImmediate(immediate) };
    },
  };
}
