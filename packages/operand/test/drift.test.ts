import { ConfigMap } from '@slipway/kube';
import { memberLabel } from '@slipway/manifests';
import { HeldWatches } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { operandMembership } from '../src/names.ts';
import {
  changeTo,
  configMap,
  operand,
  operandCluster,
  readyOperand,
  runOperator,
  runOperatorThrough,
} from './story.ts';

const key = (name: string) => ({ namespace: 'default', name });

describe('a member changed by hand', () => {
  test('is put right by looking at it alone, not at the others', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    let requests: string[] = [];
    await runOperator(cluster, (request, phase) => {
      if (phase === 'before') requests.push(`${request.method} ${request.path.split('?')[0]}`);
    });
    const members = Array.from({ length: 50 }, (_, i) => configMap(`m${i}`, { v: String(i) }));
    await client.create(operand('shop', members));
    await readyOperand(cluster, 'shop');
    await cluster.advance(cluster.type === 'embedded' ? 10_000 : 3_000);

    requests = [];
    await client.patch(ConfigMap, key('m7'), { type: 'merge', body: { data: { v: 'edited' } } });
    await cluster.eventually(
      'the edit is undone',
      async () => (await client.get(ConfigMap, key('m7')))?.data?.['v'] === '7',
      { withinMs: 2_000 },
    );
    await client.delete(ConfigMap, key('m8'));
    await cluster.eventually('m8 is back', async () => await client.get(ConfigMap, key('m8')), { withinMs: 2_000 });
    await cluster.advance(cluster.type === 'embedded' ? 5_000 : 2_000);

    const member = '/api/v1/namespaces/default/configmaps';
    const writes = requests.filter((request) => !request.startsWith('GET') && request.includes('/configmaps'));
    expect(writes).toEqual([`PATCH ${member}/m7`, `PATCH ${member}/m8`]);
    // Neither the Operand nor the ActiveOperand that watches over the namespace looks at anything else.
    expect(requests.filter((request) => request === `GET ${member}`)).toEqual([]);
    const touched = new Set(requests.filter((request) => request.startsWith(`GET ${member}/`)));
    expect([...touched].sort()).toEqual([`GET ${member}/m7`, `GET ${member}/m8`]);
    expect(requests.filter((request) => request.endsWith('/operands/shop/status'))).toEqual([]);
  });

  test('of many at once, all come back', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const names = Array.from({ length: 30 }, (_, i) => `m${i}`);
    await client.create(
      operand(
        'shop',
        names.map((name) => configMap(name, { v: '1' })),
      ),
    );
    await readyOperand(cluster, 'shop');
    await Promise.all(names.slice(0, 20).map((name) => client.delete(ConfigMap, key(name))));
    await cluster.eventually(
      'all are back',
      async () => {
        const found = await Promise.all(names.map((name) => client.get(ConfigMap, key(name))));
        return found.every((object) => object?.data?.['v'] === '1');
      },
      { withinMs: cluster.type === 'embedded' ? 2_000 : 10_000 },
    );
  });

  test('or deleted before the first list of its kind has come, as from a server that still loads it, is put right', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const watches = new HeldWatches(({ path }) => path.includes(encodeURIComponent(memberLabel)));
    await runOperatorThrough(cluster, watches.through(cluster.transport()));
    await client.create(operand('shop', [configMap('edited', { v: 'wanted' }), configMap('deleted', { v: 'wanted' })]));
    await readyOperand(cluster, 'shop');
    await client.patch(ConfigMap, key('edited'), { type: 'merge', body: { data: { v: 'another' } } });
    await client.delete(ConfigMap, key('deleted'));
    expect(watches.count).toBeGreaterThan(0);
    watches.release();
    await cluster.eventually(
      'both are as they should be',
      async () => {
        const found = await Promise.all(['edited', 'deleted'].map((name) => client.get(ConfigMap, key(name))));
        return found.every((object) => object?.data?.['v'] === 'wanted');
      },
      { withinMs: cluster.type === 'embedded' ? 2_000 : 30_000 },
    );
  });

  test('that lost the label of its set alone gets it back', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await runOperator(cluster);
    await client.create(operand('shop', [configMap('m', { v: 'wanted' })]));
    await readyOperand(cluster, 'shop');
    const { label } = operandMembership('shop');
    await client.patch(ConfigMap, key('m'), { type: 'merge', body: { metadata: { labels: { [label]: null } } } });
    await cluster.eventually(
      'the label is back',
      async () => (await client.get(ConfigMap, key('m')))?.metadata.labels?.[label] !== undefined,
      { withinMs: cluster.type === 'embedded' ? 2_000 : 30_000 },
    );
  });
});

describe('a member changed in the spec', () => {
  test('is tried and written, and no other is looked at', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    let requests: string[] = [];
    await runOperator(cluster, (request, phase) => {
      if (phase === 'before' && request.path.includes('/configmaps'))
        requests.push(`${request.method} ${request.path}`);
    });
    const members = Array.from({ length: 50 }, (_, i) => configMap(`m${i}`, { v: String(i) }));
    await client.create(operand('shop', members));
    await readyOperand(cluster, 'shop');
    await cluster.advance(cluster.type === 'embedded' ? 10_000 : 3_000);

    requests = [];
    await changeTo(cluster, 'shop', [...members.slice(0, 49), configMap('m49', { v: 'changed' })]);
    await readyOperand(cluster, 'shop');
    expect((await client.get(ConfigMap, key('m49')))?.data).toEqual({ v: 'changed' });
    const member = '/api/v1/namespaces/default/configmaps/m49';
    expect(requests.filter((request) => !request.includes('/configmaps/m49'))).toEqual([]);
    expect(requests.map((request) => request.replace(/\?.*dryRun=All.*/, ' (dry run)').split('?')[0])).toEqual([
      `GET ${member}`,
      `PATCH ${member} (dry run)`,
      `PATCH ${member}`,
    ]);
  });
});
