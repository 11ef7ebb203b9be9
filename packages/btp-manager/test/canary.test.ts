import { Event, Secret, type KubeObject } from '@slipway/kube';
import { onReference, type TestCluster, type TestManager } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import { Redaction } from '../src/btp-operator/redaction.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  encode,
  isGone,
  namespace,
  primary,
  read,
  reaches,
  requiredSecret,
} from './kit.ts';

const canaries = {
  clientid: 'canary-client-id-7f3a',
  clientsecret: 'canary-client-secret-91bc',
  sm_url: 'https://canary-sm-url-55de.example',
  tokenurl: 'https://canary-token-url-02aa.example',
  extra: 'canary-extra-key-c4c4',
};
const forbidden = Object.values(canaries).flatMap((value) => [value, encode(value).slice(0, 20)]);

/** Everything a process wrote where others may read it. */
async function written(cluster: TestCluster, { logs, manager }: TestManager, kept: unknown[]): Promise<string> {
  const events: KubeObject[] = [];
  for await (const event of cluster.client.list(Event)) events.push(event as unknown as KubeObject);
  const logText = JSON.stringify(logs, (_key, value: unknown) =>
    value instanceof Error ? { message: value.message, stack: value.stack, cause: value.cause } : value,
  );
  return [logText, JSON.stringify(events), await manager.registry.metrics(), JSON.stringify(kept)].join('\n');
}

describe('secrets', () => {
  test('no credential appears in logs, events, status or metrics', async () => {
    await using cluster = await btpCluster([namespace('creds'), requiredSecret(canaries)]);
    const { client } = cluster;
    const statuses: unknown[] = [];
    cluster.embedded?.observe(({ storageId, object }) => {
      if (storageId === 'btpoperators.operator.kyma-project.io') statuses.push(object);
    });
    const manager = await cluster.run([btpController()]);
    await client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    if (cluster.embedded) {
      // A server that repeats what it was sent, as validation errors do.
      const refuse = (status: number) =>
        cluster.embedded!.faults.add({
          match: { verb: 'patch', resource: 'secrets', name: 'sap-btp-service-operator', times: 3 },
          action: {
            type: 'error',
            status,
            message: `data[clientsecret]: Invalid value: "${encode(canaries.clientsecret)}" (${canaries.clientsecret})`,
          },
        });
      const invalid = refuse(422);
      const body = { data: { extra: encode(`${canaries.extra}-changed`) } };
      await client.patch(Secret, { namespace: 'kyma-system', name: 'sap-btp-manager' }, { type: 'merge', body });
      const failed = await reaches(cluster, 'ReconcileFailed');
      expect(JSON.stringify(failed.status)).toContain('its own words are left out');
      invalid.remove();
      const unavailable = refuse(503);
      await reaches(cluster, 'ReconcileSucceeded');
      unavailable.remove();
    }
    const data = { cluster_id: encode('cluster-2'), credentials_namespace: encode('creds') };
    await client.patch(
      Secret,
      { namespace: 'kyma-system', name: 'sap-btp-manager' },
      {
        type: 'merge',
        body: { data },
      },
    );
    await cluster.eventually('the credentials have moved', () =>
      client.get(Secret, { namespace: 'creds', name: 'sap-btp-service-operator' }),
    );
    await reaches(cluster, 'ReconcileSucceeded');
    statuses.push(await read(cluster));
    await client.delete(BtpOperator, primary);
    await isGone(cluster);
    const text = await written(cluster, manager, statuses);
    expect(text).toContain('Module provisioning succeeded');
    if (!onReference) expect(text).toContain('credentials namespace changed from kyma-system to creds');
    for (const canary of forbidden) expect(text).not.toContain(canary);
    for (const marker of ['PRIVATE KEY', encode('-----BEGIN RSA PRIVATE').slice(0, 24)])
      expect(text).not.toContain(marker);
  });

  test('a redaction takes out values, their base64 form, and the longest first', () => {
    const redaction = new Redaction();
    redaction.learn(
      { a: encode('secret-value'), b: encode('secret-value-and-more'), id: encode('harmless-id') },
      new Set(['id']),
    );
    expect(redaction.apply(`x secret-value-and-more y ${encode('secret-value')} z harmless-id`)).toBe(
      'x *** y *** z harmless-id',
    );
  });
});
