import { join } from 'node:path';
import { keptObjects, nowOf, restoreObjects, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import { btpCluster, btpController, reaches, read, seededCertificates } from './kit.ts';

/** What `slipway up` of 0.1.0 had made of its example, definitions included. Keys are each cluster's own. */
const left = await keptObjects(join(import.meta.dirname, 'upgrade', '0.1.0.jsonl'));

/** The uids of all that was there; one that is gone has none. */
const uids = ({ client }: TestCluster) => nowOf(client, left, (metadata) => metadata?.uid);

test('what 0.1.0 has left is taken over, brought up to date in place, and then left alone', async () => {
  await using cluster = await btpCluster(seededCertificates(), { unshared: true, kinds: [] });
  await restoreObjects(cluster, left);
  const before = await uids(cluster);
  await cluster.install(BtpOperator);

  const first = await cluster.run([btpController()]);
  const updated = await reaches(cluster, 'UpdateDone');
  expect(updated.status?.state).toBe('Ready');
  expect(await uids(cluster)).toEqual(before);
  // Each object is asked about in a dry run before the update and then applied once; none is deleted for it.
  expect(cluster.writes.filter((write) => !write.startsWith('patch '))).toEqual([]);
  const times = Object.values(Object.groupBy(cluster.writes, (write) => write)).map((same) => same!.length);
  expect(Math.max(...times)).toBeLessThanOrEqual(2);
  await first.stop();

  const written = cluster.writes.length;
  await cluster.run([btpController()]);
  await cluster.advance(3_000);
  expect(cluster.writes.slice(written)).toEqual([]);
  expect((await read(cluster))?.status?.state).toBe('Ready');
});
