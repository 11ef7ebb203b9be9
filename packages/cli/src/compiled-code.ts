import { lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Lets Node keep what it compiles, so that from the second start on nothing is compiled again. Compiled code is code: it is
 * kept in the user's own cache folder, and only when nobody else can write there, not in the folder for temporary files that
 * all users share. `NODE_COMPILE_CACHE` names another place, `NODE_DISABLE_COMPILE_CACHE` wants none.
 */
export function keepCompiledCode(env: Environment = process.env): void {
  if (env['NODE_COMPILE_CACHE'] || env['NODE_DISABLE_COMPILE_CACHE']) return;
  const folder = ownFolder(env);
  if (folder !== undefined) enableCompileCache(folder);
}

/** Where compiled code is kept; nowhere when nobody wants it or there is no safe place. */
export function compiledFolder(env: Environment): string | undefined {
  if (env['NODE_DISABLE_COMPILE_CACHE']) return undefined;
  return env['NODE_COMPILE_CACHE'] || ownFolder(env);
}

/** A folder only this user can write to; nothing when there is none to be had. */
export function ownFolder(env: Environment): string | undefined {
  const folder = join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'slipway', 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const info = lstatSync(folder);
    return info.isDirectory() && isOnlyOurs(info) ? folder : undefined;
  } catch {
    // No home, or none that can be written: then it is compiled each time.
    return undefined;
  }
}

const writableByOthers = 0o022;

/** Where there are no user ids, folders below the home belong to the user. */
function isOnlyOurs({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  const self = process.getuid?.();
  return self === undefined || (uid === self && (mode & writableByOthers) === 0);
}
