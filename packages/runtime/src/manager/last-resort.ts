import type { Logger } from '../log/logger.ts';

/** Why a manager ends when something was thrown where nobody could catch it. */
export class UncaughtError extends Error {
  constructor(origin: NodeJS.UncaughtExceptionOrigin, cause: unknown) {
    const what = origin === 'unhandledRejection' ? 'a promise was rejected' : 'an error was thrown';
    super(`${what} and nobody caught it: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'UncaughtError';
  }
}

/**
 * Between an error nobody caught and the death of the process: it is logged with its stack and `end` is called, once, to end
 * things in order. Whatever else goes wrong meanwhile is logged, too. Returns the function that takes the handler away.
 */
export function catchUncaught(log: Logger, end: (error: UncaughtError) => void): () => void {
  let ending = false;
  const onUncaught = (error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void => {
    log.error('an error nobody caught', { origin, error });
    // Also for a program that does not look at how its manager ended.
    process.exitCode = 1;
    if (ending) return;
    ending = true;
    end(new UncaughtError(origin, error));
  };
  // Rejections nobody handles arrive here as well, with their origin.
  process.on('uncaughtException', onUncaught);
  return () => void process.off('uncaughtException', onUncaught);
}
