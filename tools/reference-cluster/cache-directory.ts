import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where everything lives that is fetched or built and never committed. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return env['SLIPWAY_CACHE_DIR'] || join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'slipway');
}
