import { Script } from 'node:vm';

/** Work that did not end in its time. */
export class WorkTooLong extends Error {
  override name = 'WorkTooLong';
}

const place = Symbol.for('slipway.boundedWork');
type Holder = { [place]?: (() => void) | undefined };

let runner: Script | undefined;

/**
 * Does work that somebody else's code does with a stranger's input, and stops it when it goes on for too long, inside a regular expression
 * too. Only what runs as a script can be stopped, so a script calls it.
 */
export function boundedWork<T>(work: () => T, mostMs: number): T {
  let result: { readonly value: T } | undefined;
  const holder = globalThis as Holder;
  const outer = holder[place];
  holder[place] = () => {
    result = { value: work() };
  };
  try {
    runner ??= new Script(`globalThis[Symbol.for('slipway.boundedWork')]()`);
    runner.runInThisContext({ timeout: mostMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new WorkTooLong(`it takes longer than ${mostMs / 1000} seconds`, { cause: error });
    throw error;
  } finally {
    holder[place] = outer;
  }
  return result!.value;
}
