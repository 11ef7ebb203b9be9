import { ConfigMap, newObject, type KubeObject } from '@slipway/kube';
import { controller, requeueAfter, type Controller } from '@slipway/runtime';
import {
  onReference,
  playStorm,
  skipped,
  testCluster,
  type SeededRandom,
  type StormStory,
  type TestCluster,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { lentBy, miniOperator, Shelf, shelfLabel, type PlantedBug } from './mini-operator.ts';

const embeddedOnly = skipped(onReference, 'on the real API server: the storm kit on itself, which needs virtual time');
const options = { replay: 'SLIPWAY_STORM=SEED npx vitest run here' };
const lent = newObject(ConfigMap, { metadata: { namespace: 'default', name: 'lent', annotations: { [lentBy]: 'x' } } });

function storyWith(bug?: PlantedBug): (random: SeededRandom) => StormStory {
  return (random) => {
    const lists = Array.from({ length: 4 }, () => random.some(['a', 'b', 'c', 'd', 'lent'], 0.6));
    const books = lists.at(-1)!;
    return {
      name: 'shelf',
      cluster: () => testCluster({ kinds: [Shelf], objects: [lent], embedded: { random: random.fork('uids') } }),
      controllers: () => miniOperator(bug),
      steps: [
        {
          name: 'create',
          run: ({ client }) =>
            client.create(
              newObject(Shelf, { metadata: { namespace: 'default', name: 'top' }, spec: { books: lists[0]! } }),
            ),
        },
        ...lists.slice(1).map((list) => ({
          name: `change to ${list.join(' ')}`,
          run: ({ client }: TestCluster) =>
            client.patch(
              Shelf,
              { namespace: 'default', name: 'top' },
              { type: 'merge', body: { spec: { books: list } } },
            ),
        })),
      ],
      async settled({ client }) {
        const found = await Array.fromAsync(client.list(ConfigMap, { labelSelector: shelfLabel }));
        expect(found.map(({ metadata }) => metadata.name)).toEqual(books.filter((name) => name !== 'lent'));
        return true;
      },
      watch: watchLent,
    };
  };
}

/** What somebody else lent is never changed. */
function watchLent(cluster: TestCluster): { verify(): void } {
  const changed: string[] = [];
  cluster.embedded?.observe(({ type, object }) => {
    const { metadata } = object as unknown as KubeObject;
    if (metadata.name === 'lent' && type !== 'ADDED') changed.push(type);
  });
  return {
    verify() {
      if (changed.length > 0) throw new Error(`the lent book was touched: ${changed[0]}`);
    },
  };
}

/** What the first storm that finds something says. */
async function firstFinding(bug: PlantedBug | undefined, seeds: number): Promise<string | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    try {
      await playStorm(storyWith(bug), seed, options);
    } catch (error) {
      return (error as Error).message;
    }
  }
  return undefined;
}

describe.skipIf(embeddedOnly)('a storm', () => {
  test('finds nothing in an operator without a bug', { timeout: 300_000 }, async () => {
    expect(await firstFinding(undefined, 8)).toBeUndefined();
  });

  test.each<[PlantedBug, RegExp]>([
    ['lostObject', /comes to rest/],
    ['goingOwner', /got the owner ConfigMap edition-\d+, which is (gone|on its way out)/],
    ['refusedAdoption', /the lent book was touched/],
    ['hotLoop', /top\/status was written \d+ times/],
  ])('finds the planted bug %s, and says how to play it again', { timeout: 300_000 }, async (bug, finding) => {
    const message = await firstFinding(bug, 30);
    expect(message).toMatch(finding);
    expect(message).toMatch(/storm (\d+): [^]*to play it again: SLIPWAY_STORM=\1 npx/);
  });

  test('is the same for the same seed, and another for another', { timeout: 300_000 }, async () => {
    const [first, again, other] = [
      await playStorm(storyWith(), 7, options),
      await playStorm(storyWith(), 7, options),
      await playStorm(storyWith(), 8, options),
    ];
    expect(again.journal).toEqual(first.journal);
    expect(other.journal).not.toEqual(first.journal);
  });

  test(
    'replaces every process in an upgrade, one after another, and both are at work until then',
    { timeout: 300_000 },
    async () => {
      const started: string[] = [];
      let version = 'older';
      const story = (random: SeededRandom): StormStory => {
        const told = storyWith()(random);
        return {
          ...told,
          controllers(calls) {
            started.push(version);
            return told.controllers(calls);
          },
          steps: [...told.steps, { name: 'upgrade', run: async () => (version = 'newer'), replacesProcesses: true }],
          replicas: 2,
        };
      };
      const { journal, happened } = await playStorm(story, 3, options);
      expect(started.slice(0, 2)).toEqual(['older', 'older']);
      expect(started.filter((each) => each === 'newer').length).toBeGreaterThanOrEqual(2);
      expect(journal.some((line) => line.endsWith('step: upgrade'))).toBe(true);
      expect(happened.step).toBeGreaterThan(1);
    },
  );

  test('rages for as many writes as the story wants, also when its steps are over', { timeout: 300_000 }, async () => {
    /** Writes every second, for ever. */
    const restless: Controller = controller({
      name: 'restless',
      for: ConfigMap,
      async reconcile({ client, clock }, key) {
        await client.patch(ConfigMap, key, { type: 'merge', body: { data: { at: String(clock.now()) } } });
        return requeueAfter(1000);
      },
    });
    const story = (random: SeededRandom): StormStory => ({
      ...storyWith()(random),
      controllers: () => [restless],
      steps: [{ name: 'nothing', run: async () => undefined }],
      settled: async () => true,
      watch: () => ({ verify: () => undefined }),
      writes: { accepted: Number.POSITIVE_INFINITY, sent: Number.POSITIVE_INFINITY },
      rages: 30,
    });
    const { writes } = await playStorm(story, 1, options);
    expect(writes).toBeGreaterThanOrEqual(30);
  });

  test(
    'holds writes, runs two replicas, kills, breaks and refuses: all of it in a few seeds',
    { timeout: 300_000 },
    async () => {
      const results = await Array.fromAsync([1, 2, 3, 4, 5, 6, 7, 8], (seed) => playStorm(storyWith(), seed, options));
      const happened = new Set(results.flatMap((result) => Object.keys(result.happened)));
      expect([...happened].sort()).toEqual(['breakWatches', 'edit', 'kill', 'outage', 'step']);
      expect(new Set(results.map((result) => result.replicas))).toEqual(new Set([1, 2]));
    },
  );
});
