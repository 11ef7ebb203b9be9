import { createHook } from 'node:async_hooks';

// Files and key pairs take real time, of which virtual time knows nothing: a test must not let minutes pass meanwhile.
const pending = new Map<number, number>();
createHook({
  init(id, type) {
    // Random bytes come at once; all other work of crypto is done in another thread.
    if ((type.endsWith('REQUEST') && type !== 'RANDOMBYTESREQUEST') || type.startsWith('FSREQ'))
      pending.set(id, performance.now());
  },
  after: (id) => void pending.delete(id),
  destroy: (id) => void pending.delete(id),
  // Following every promise of the process takes a quarter of the time of these tests.
  trackPromises: false,
}).enable();

/** Some requests are never said to be done (a folder that was not read to its end); none takes this long. */
const longestMs = 3000;

let counted = 0;

/** Lets virtual time stand still until `work` is done: for calls over a real network. */
export async function asRealWork<T>(work: Promise<T>): Promise<T> {
  counted += 1;
  try {
    return await work;
  } finally {
    counted -= 1;
  }
}

function busy(): boolean {
  if (counted > 0) return true;
  for (const [id, since] of pending) if (performance.now() - since > longestMs) pending.delete(id);
  return pending.size > 0;
}

/** Resolves when nothing has been read from disk, computed in another thread or asked over a network for a few turns of the event loop. */
export async function realWorkDone(): Promise<void> {
  for (let quiet = 0; quiet < 8; quiet = busy() ? 0 : quiet + 1)
    await new Promise<void>((resolve) => setImmediate(resolve));
}
