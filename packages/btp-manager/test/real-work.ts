import { createHook } from 'node:async_hooks';

// Files and key pairs take real time, of which virtual time knows nothing: a test must not let minutes pass meanwhile.
const pending = new Set<number>();
createHook({
  init(id, type) {
    if (type.endsWith('REQUEST') || type.startsWith('FSREQ')) pending.add(id);
  },
  after: (id) => void pending.delete(id),
  destroy: (id) => void pending.delete(id),
}).enable();

/** Resolves when nothing has been read from disk or computed in another thread for a few turns of the event loop. */
export async function realWorkDone(): Promise<void> {
  for (let quiet = 0; quiet < 8; quiet = pending.size === 0 ? quiet + 1 : 0)
    await new Promise<void>((resolve) => setImmediate(resolve));
}
