import { expect, test } from 'vitest';
import { BtpOperator } from '../src/api.ts';
import { btpCluster, btpController, btpOperator, isGone, primary, reaches } from './kit.ts';

test('create, ready, delete, gone', async () => {
  await using cluster = await btpCluster();
  const { logs } = await cluster.run([btpController()]);
  await cluster.client.create(btpOperator());
  try {
    const ready = await reaches(cluster, 'ReconcileSucceeded', { withinMs: 600_000 });
    expect(ready.status).toMatchObject({ state: 'Ready', chartVersion: '0.11.10' });
    await cluster.client.delete(BtpOperator, primary);
    await isGone(cluster, 60_000);
  } catch (error) {
    for (const entry of logs)
      process.stderr.write(
        JSON.stringify({ ...entry, fields: { ...entry.fields, error: (entry.fields['error'] as Error)?.stack } }) +
          '\n',
      );
    throw error;
  }
});
