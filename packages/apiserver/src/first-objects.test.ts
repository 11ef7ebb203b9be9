import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startCluster, type Cluster } from './cluster.ts';
import type { ApiObject } from './object.ts';
import { sqliteStorage } from './store/sqlite-storage.ts';
import { VirtualClock } from './virtual-clock.ts';

/** Texts, so that the order of fields counts too. */
function contentsOf({ server: { store } }: Cluster): string[] {
  const text = ({ metadata: { uid, resourceVersion, ...metadata }, ...rest }: ApiObject) => {
    expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(resourceVersion).toMatch(/^\d+$/);
    return JSON.stringify({ metadata, ...rest });
  };
  return store
    .storageIds()
    .toSorted()
    .flatMap((id) => store.list(id).map(({ key, object }) => `${id} ${key} ${text(object)}`));
}

it.each([
  ['with TLS', { tls: true }],
  ['without TLS', {}],
])('what a cluster begins with is what the pipeline would have made, %s', async (_, extra) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'slipway-first-'));
  const clock = new VirtualClock();
  const options = { dataDir, clock, ...extra };
  try {
    const first = await startCluster(options);
    await first.synced();
    await clock.settle();
    const stored = contentsOf(first);
    const { revision } = first;
    // Nothing was left for the controllers to do.
    expect(stored).toHaveLength(revision);
    await first.stop();
    const storage = sqliteStorage({ directory: dataDir });
    for (const change of Array.from(storage.load().changes)) {
      storage.append({ ...change, type: 'DELETED', revision: change.revision + revision });
    }
    storage.close();

    await using second = await startCluster(options);
    await second.synced();
    await clock.settle();
    expect(contentsOf(second)).toEqual(stored);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
