import { join } from 'node:path';
import {
  ConfigMap,
  Deployment,
  findCondition,
  Namespace,
  ServiceAccount,
  newObject,
  toCustomResourceDefinition,
  type KubeObject,
} from '@slipway/kube';
import type { Controller } from '@slipway/runtime';
import {
  keptObjects,
  onReference,
  playStorm,
  restoreObjects,
  skipped,
  stormSeeds,
  testCluster,
  type SeededRandom,
  type StormAct,
  type StormStory,
  type TestCluster,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { activeOperandControllers } from '../src/active/controllers.ts';
import { Operand } from '../src/api.ts';
import { operandController } from '../src/operand/controller.ts';
import type { OperandSettings } from '../src/operand/reconcile.ts';
import { watchInvariants } from './invariants.ts';
import { configMap, kinds, setsOf } from './story.ts';

/** What `slipway up` of 0.1.0 had made of its example, definitions included: fields of today are not kept until those are replaced. */
const left = await keptObjects(join(import.meta.dirname, 'upgrade', '0.1.0.jsonl'));
const { steadyState: example, postInstall } = (left.find(({ kind }) => kind === 'Operand') as Operand).spec;
const [namespace, , web] = example as KubeObject[];
const [installed] = postInstall as KubeObject[];

/** Today's operator acts as an account that 0.1.0 did not know of. */
const versions: Readonly<Record<'older' | 'newer', OperandSettings>> = {
  older: {},
  newer: { defaultAccount: { namespace: 'default', name: 'deployer' } },
};
type Version = keyof typeof versions;

/** The operator of a version. Its controllers are told apart from those of the other one that is at work. */
function operatorOf(version: Version): Controller[] {
  const settings = versions[version];
  return [operandController(settings), ...activeOperandControllers(settings)].map((each) => ({
    ...each,
    name: `${each.name}-${version}`,
  }));
}

/** Nothing without their owner. */
const madeForOthers = new Set(['ActiveOperand', 'ReplicaSet', 'Pod']);

type Wish = readonly KubeObject[];
const inHello = (name: string, value: string) => configMap(name, { value }, { namespace: 'hello' });

function wishOf(random: SeededRandom): Wish {
  const value = String(random.below(3));
  return [namespace!, ...random.some(['a', 'b', 'c'], 0.6).map((name) => inHello(name, value)), web!];
}

function changes(wishes: readonly Wish[]): StormAct[] {
  return wishes.map((steadyState) => ({
    name: `change to ${steadyState.map(({ metadata }) => metadata.name).join(' ')}`,
    run: ({ client }) => client.patch(Operand, { name: 'hello' }, { type: 'merge', body: { spec: { steadyState } } }),
  }));
}

const newDefinitions: StormAct = {
  name: 'the definitions of today',
  async run({ client }) {
    for (const kind of kinds) await client.apply(toCustomResourceDefinition(kind));
  },
};

/** What 0.1.0 has left, in use, and the last of four wishes for it: the operator is upgraded after the second. */
function storyOf(
  random: SeededRandom,
  { controllers, upgrade = [] }: { controllers: () => readonly Controller[]; upgrade?: readonly StormAct[] },
): StormStory {
  const wishes = Array.from({ length: 4 }, () => wishOf(random));
  const acts = changes(wishes);
  const last = wishes.at(-1)!;
  const before = new Map<string, string | undefined>();
  const deletedByHand = new Set<string | undefined>();
  return {
    name: 'what 0.1.0 has left',
    controllers,
    replicas: 2,
    async cluster() {
      const account = newObject(ServiceAccount, { metadata: { namespace: 'default', name: 'deployer' } });
      const cluster = await testCluster({
        controllers: 'workloads',
        objects: [account],
        embedded: { random: random.fork('uids') },
      });
      await restoreObjects(cluster, left);
      for (const [name, uid] of await lasting(cluster)) before.set(name, uid);
      return cluster;
    },
    steps: [...acts.slice(0, 2), newDefinitions, ...upgrade, ...acts.slice(2)],
    edits: editsOf(deletedByHand),
    settled: async (cluster) => {
      await isInForce(cluster, last);
      expect(await lasting(cluster)).toEqual(before);
      return true;
    },
    watch: (cluster) => watchInvariants(cluster, deletedByHand),
    isRecord: ({ kind }) => madeForOthers.has(kind),
  };
}

function editsOf(deletedByHand: Set<string | undefined>): StormAct[] {
  const [a, b] = ['a', 'b'].map((name) => ({ namespace: 'hello', name }));
  return [
    {
      name: 'a is edited',
      run: ({ client }) => client.patch(ConfigMap, a!, { type: 'merge', body: { data: { value: 'x' } } }),
    },
    {
      name: 'b is deleted',
      async run({ client }) {
        const uid = (await client.get(ConfigMap, b!))?.metadata.uid;
        if (uid === undefined) return;
        deletedByHand.add(uid);
        await client.delete(ConfigMap, b!, { preconditions: { uid } });
      },
    },
  ];
}

/** What every wish has, by uid: it is never made anew. */
async function lasting({ client }: TestCluster): Promise<Map<string, string | undefined>> {
  const found = [
    await client.get(Namespace, { name: 'hello' }),
    await client.get(Deployment, { namespace: 'hello', name: 'web' }),
    await client.get(Operand, { name: 'hello' }),
  ];
  return new Map(found.map((object) => [String(object?.kind), object?.metadata.uid]));
}

/** Throws, with what it is waiting for, until the wish is in force and nothing else is. */
async function isInForce(cluster: TestCluster, wish: Wish): Promise<void> {
  const { client } = cluster;
  const hello = await client.get(Operand, { name: 'hello' });
  expect(hello?.status?.observedGeneration).toBe(hello?.metadata.generation);
  expect(findCondition(hello, 'Ready')).toMatchObject({ status: 'True' });
  const sets = await setsOf(cluster);
  expect(sets.map(({ metadata }) => metadata.name)).toEqual([hello?.status?.latestReadyActiveOperand]);
  const wanted = new Map(
    [...wish, installed!].flatMap((object) =>
      object.kind === 'ConfigMap' ? [[object.metadata.name, object['data']]] : [],
    ),
  );
  const members = await Array.fromAsync(
    client.list(ConfigMap, { namespace: 'hello', labelSelector: 'manifests.slipway.dev/member' }),
  );
  expect(new Map(members.map(({ metadata, data }) => [metadata.name, data]))).toEqual(wanted);
}

const embeddedOnly = skipped(
  onReference,
  'on the real API server: two versions at once in a storm, whose every write the embedded one lets us see',
);
const options = { replay: 'SLIPWAY_STORM=SEED npx vitest run packages/operand/test/versions.test.ts' };

describe.skipIf(embeddedOnly)('an Operand that 0.1.0 has left, in a storm', () => {
  test.each(stormSeeds({ quick: 1, full: 15 }))(
    'is upgraded in the middle of it, definitions first, and loses nothing: storm %s',
    { timeout: 300_000 },
    async (seed) => {
      let version: Version = 'older';
      const upgrade: StormAct = {
        name: 'the pods of today',
        run: async () => (version = 'newer'),
        replacesProcesses: true,
      };
      const story = (random: SeededRandom) =>
        storyOf(random, { controllers: () => operatorOf(version), upgrade: [upgrade] });
      const { happened } = await playStorm(story, seed, options);
      expect(happened.step).toBe(6);
    },
  );

  test.each(stormSeeds({ quick: 1, full: 15 }))(
    'is in the hands of two versions at once that no lease keeps apart: they come to rest at its manifest, storm %s',
    { timeout: 300_000 },
    async (seed) => {
      let starts = 0;
      const controllers = () => operatorOf(starts++ % 2 === 0 ? 'older' : 'newer');
      const story = (random: SeededRandom): StormStory => ({
        ...storyOf(random, { controllers }),
        withoutLease: true,
        // What one of them writes may belong to a set that the other has just taken away: the member goes, and is made again.
        watch: () => ({ verify: () => undefined }),
        isRecord: () => true,
      });
      const { writes } = await playStorm(story, seed, options);
      expect(writes).toBeGreaterThan(0);
    },
  );
});
