import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

import { decodeRecord, encodeRecord } from './record.ts';
import type { Release, ReleaseHook } from './release.ts';

const hook: ReleaseHook = {
  name: 'migrate',
  kind: 'Job',
  path: 'web/templates/migrate.yaml',
  manifest: 'kind: Job\n',
  events: ['pre-upgrade'],
  weight: -5,
  deletePolicies: ['hook-succeeded'],
  outputLogPolicies: ['hook-failed'],
};
const release: Release = {
  name: 'web',
  namespace: 'default',
  revision: 3,
  status: 'deployed',
  description: 'Upgrade complete',
  notes: '',
  firstDeployed: '2026-01-01T00:00:00Z',
  lastDeployed: '2026-01-02T00:00:00Z',
  config: { replicas: 2 },
  manifest: 'kind: Service\n',
  hooks: [hook],
  chart: { metadata: { name: 'web', version: '1.0.0' } },
  applyMethod: 'ssa',
  labels: { team: 'shop' },
};

it('a record holds all there is of a hook, under the names Helm has for it', () => {
  const text = encodeRecord(release);
  const { hooks } = JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString()) as { hooks: object[] };
  expect(hooks[0]).toMatchObject({
    weight: -5,
    delete_policies: ['hook-succeeded'],
    output_log_policies: ['hook-failed'],
  });
  expect(decodeRecord(text, release.labels, 'default/a').hooks[0]).toMatchObject(hook);
});

it('a record says nothing of hooks where there are none, as with Helm', () => {
  const text = encodeRecord({ ...release, hooks: [] });
  expect(JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString())).not.toHaveProperty('hooks');
  expect(decodeRecord(text, release.labels, 'default/a').hooks).toEqual([]);
});
