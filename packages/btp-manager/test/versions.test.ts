import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigMap, toCustomResourceDefinition } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';
import {
  keptObjects,
  onReference,
  playStorm,
  restoreObjects,
  skipped,
  stormSeeds,
  type SeededRandom,
  type StormAct,
  type StormStory,
  type TestCluster,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import { btpCluster, btpController, moduleCopy, namespace, read, seededCertificates, testSettings } from './kit.ts';
import { watchTrust } from './watch-trust.ts';
import { isInForce, tell, wishOf } from './wish.ts';

/** What `slipway up` of 0.1.0 had made of its example, definitions included: fields of today are not kept until those are replaced. */
const left = await keptObjects(join(import.meta.dirname, 'upgrade', '0.1.0.jsonl'));
/** The version of the module that 0.1.0 has noted. */
const olderChart = '0.11.10';
const outdated = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: outdated, namespace: kyma-system}\n';

const [older, newer] = [await moduleCopy(), await moduleCopy()];
await writeFile(join(older.folder, 'module-chart', 'chart', 'Chart.yaml'), `version: ${olderChart}\n`);
await writeFile(join(older.folder, 'module-resources', 'apply', 'outdated.yml'), outdated);
await writeFile(join(newer.folder, 'module-resources', 'delete', 'to-delete.yml'), outdated);

const managers: Readonly<Record<'older' | 'newer', () => Controller>> = {
  older: () => btpController({ settings: testSettings(older.data) }),
  newer: () => btpController({ settings: testSettings(newer.data) }),
};

const newDefinition: StormAct = {
  name: 'the definition of today',
  run: ({ client }) => client.apply(toCustomResourceDefinition(BtpOperator)),
};

/** What 0.1.0 has left, in use, and a last wish for it. */
function storyOf(
  random: SeededRandom,
  rest: Pick<StormStory, 'name' | 'controllers' | 'replicas' | 'withoutLease'>,
  stepsWith: (early: StormAct, late: StormAct) => readonly StormAct[],
): StormStory {
  const [first, last] = [wishOf(random, 0), wishOf(random, 1)];
  const told = (wish: typeof first): StormAct => ({
    name: JSON.stringify(wish),
    run: (cluster) => tell(cluster, wish),
  });
  let before: unknown;
  return {
    ...rest,
    async cluster() {
      const cluster = await btpCluster([namespace('creds'), ...seededCertificates()], {
        kinds: [],
        embedded: { random: random.fork('uids') },
      });
      await restoreObjects(cluster, left);
      before = await definitionsAndModule(cluster);
      return cluster;
    },
    steps: stepsWith(told(first), told(last)),
    async settled(cluster) {
      await isInForce(cluster, last);
      expect(await definitionsAndModule(cluster)).toEqual(before);
      return true;
    },
    watch: watchTrust,
    isRecord: ({ kind }) => ['ReplicaSet', 'Pod', 'EndpointSlice'].includes(kind),
  };
}

/** What no wish takes away, by uid: definitions, whose objects would go with them, and the module itself. */
async function definitionsAndModule({ client }: TestCluster): Promise<(string | undefined)[]> {
  const lasting = left.filter(({ kind }) => ['CustomResourceDefinition', 'Deployment', 'BtpOperator'].includes(kind));
  return await Promise.all(
    lasting.map(async ({ apiVersion, kind, metadata: { namespace: where, name = '' } }) => {
      const key = where === undefined ? { name } : { namespace: where, name };
      return (await client.get(await client.resolve(apiVersion, kind), key))?.metadata.uid;
    }),
  );
}

const embeddedOnly = skipped(
  onReference,
  'on the real API server: two versions at once in a storm, whose every write the embedded one lets us see',
);
const options = { replay: 'SLIPWAY_STORM=SEED npx vitest run packages/btp-manager/test/versions.test.ts' };

describe.skipIf(embeddedOnly)('a module that 0.1.0 has left, in a storm', () => {
  test.each(stormSeeds({ quick: 1, full: 15 }))(
    'is upgraded in the middle of it, while the lease passes from version to version: storm %s',
    { timeout: 300_000 },
    async (seed) => {
      let version: keyof typeof managers = 'older';
      const upgrade: StormAct = {
        name: 'the pods of today',
        run: async () => (version = 'newer'),
        replacesProcesses: true,
      };
      const story = (random: SeededRandom): StormStory => {
        const rest = { name: 'an upgrade', controllers: () => [managers[version]()], replicas: 2 };
        const told = storyOf(random, rest, (early, late) => [early, newDefinition, upgrade, late]);
        return {
          ...told,
          async settled(cluster) {
            expect((await read(cluster))?.status?.chartVersion).toBe(`v${olderChart}`);
            expect(await cluster.client.get(ConfigMap, { namespace: 'kyma-system', name: 'outdated' })).toBeUndefined();
            return await told.settled(cluster);
          },
        };
      };
      const { happened } = await playStorm(story, seed, options);
      expect(happened.step).toBe(4);
    },
  );

  test.each(stormSeeds({ quick: 1, full: 15 }))(
    'is in the hands of two managers of one module at once, which no lease keeps apart, and they agree: storm %s',
    { timeout: 300_000 },
    async (seed) => {
      let starts = 0;
      const intervals: Record<string, string>[] = [{}, { ReadyStateRequeueInterval: '1m', ReadyCheckInterval: '1s' }];
      const controllers = () => {
        const name = `btp-manager-${starts % 2}`;
        return [{ ...btpController({ settings: testSettings(intervals[starts++ % 2]) }), name }];
      };
      const { writes } = await playStorm(
        (random) =>
          storyOf(random, { name: 'two managers', controllers, replicas: 2, withoutLease: true }, (early, late) => [
            newDefinition,
            early,
            late,
          ]),
        seed,
        options,
      );
      expect(writes).toBeGreaterThan(0);
    },
  );
});
