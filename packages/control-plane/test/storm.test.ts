import { type Client, ClusterRole, isTerminating, type Kind } from '@slipway/kube';
import {
  playStorm,
  type SeededRandom,
  stormSeeds,
  type StormAct,
  type StormStory,
  type TestCluster,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import type { ReadonlyComponent } from '../src/component/component-resource.ts';
import { type ComponentType, componentTypes, kindOf } from '../src/component/component-type.ts';
import { isIgnoredByOthers } from '../src/managed-control-plane/ignored-components.ts';
import { names } from '../src/names.ts';
import { key, Landscape, mcp } from './landscape.ts';

const change =
  (name: string, body: Record<string, unknown>): (() => StormAct) =>
  () => ({ name, run: ({ client }) => client.patch(ManagedControlPlane, key, { type: 'merge', body }) });

/** What customers do, and which components there are to be afterwards. */
const changes: readonly (readonly [act: () => StormAct, landscaper: boolean])[] = [
  [change('another version', { spec: { components: { flux: { version: '2.0.0' } } } }), true],
  [change('without landscaper', { spec: { components: { landscaper: null } } }), false],
  [change('with landscaper', { spec: { components: { landscaper: {} } } }), true],
  [change('other people', { spec: { authorization: { roleBindings: [] } } }), true],
  [change('look again', { metadata: { annotations: { [names.operationAnnotation]: 'reconcile' } } }), true],
];

function storyOf(random: SeededRandom): StormStory {
  const ends = random.chance(0.4);
  const disables = random.chance(0.4);
  const chosen = Array.from({ length: 1 + random.below(3) }, () => changes[random.below(changes.length)]!);
  let landscaper = true;
  for (const [act, has] of chosen) if (act().name.includes('landscaper')) landscaper = has;
  let landscape: Landscape | undefined;
  const advice = new Advice(landscaper);
  const steps: StormAct[] = [
    { name: 'create', run: ({ client }) => client.create(mcp()) },
    ...(disables ? [change('disable', { spec: { disabledComponents: ['Landscaper', 'Authorization'] } })()] : []),
    ...chosen.map(([act]) => act()),
    ...(disables ? [change('enable', { spec: { disabledComponents: null } })()] : []),
    ...(ends ? [{ name: 'delete', run: ({ client }: TestCluster) => client.delete(ManagedControlPlane, key) }] : []),
  ];
  return {
    name: 'control-plane',
    cluster: async () => {
      landscape = await Landscape.open();
      const open = landscape;
      return { ...open.cluster, [Symbol.asyncDispose]: () => open[Symbol.asyncDispose]() };
    },
    controllers: (calls) => landscape!.controllers(calls),
    steps,
    edits: [
      {
        name: 'the control plane comes and goes',
        run: async () => (landscape!.reachable = !landscape!.reachable),
      },
      {
        name: 'somebody deletes a component nobody needs',
        run: ({ client }) => client.delete(kindOf('Landscaper'), key),
      },
      {
        name: 'somebody deletes a component others need',
        run: ({ client }) => client.delete(kindOf('Authorization'), key),
      },
      { name: 'somebody has a component ignored', run: (cluster) => annotate(cluster, 'ignore') },
      { name: 'somebody takes an annotation off', run: (cluster) => annotate(cluster, null) },
      {
        name: 'somebody deletes a role on the control plane',
        run: () => landscape!.target.delete(ClusterRole, { name: 'openmcp:view' }),
      },
      {
        name: 'somebody asks a component to look again',
        run: ({ client }) =>
          client.patch(APIServer, key, {
            type: 'merge',
            body: { metadata: { annotations: { [names.operationAnnotation]: 'reconcile' } } },
          }),
      },
    ],
    settled: async (cluster) => {
      // It is calm: whatever was cut off is back.
      landscape!.reachable = true;
      await heed(cluster);
      if (ends) return await isGone(cluster);
      await advice.follow(cluster);
      return await isReady(cluster, landscape!, landscaper);
    },
    isRecord: () => true,
    // It looks for new namespaces of users every ten seconds, and writes nothing.
    writes: { accepted: 3 },
  };
}

const annotate = ({ client }: TestCluster, value: string | null) =>
  client.patch(kindOf('Landscaper'), key, {
    type: 'merge',
    body: { metadata: { annotations: { [names.operationAnnotation]: value } } },
  });

/** Takes off what somebody set by hand: nobody else does. */
async function heed(cluster: TestCluster): Promise<void> {
  const found = await cluster.client.get(kindOf('Landscaper'), key);
  if (found && isIgnoredByOthers(found)) await annotate(cluster, null);
}

/**
 * What a component says to do that cannot begin because somebody deleted one it depends on: take those out that keep the old one, and put them back when
 * there is a new one.
 */
class Advice {
  readonly #components: object;
  #takenOut = false;

  constructor(landscaper: boolean) {
    this.#components = { flux: { version: '1.0.0' }, ...(landscaper ? { landscaper: {} } : {}) };
  }

  async follow({ client }: TestCluster): Promise<void> {
    const change = (components: object) =>
      client.patch(ManagedControlPlane, key, { type: 'merge', body: { spec: { components } } });
    const authorization = await client.get(kindOf('Authorization'), key);
    const isGoing = authorization === undefined || isTerminating(authorization);
    if (this.#takenOut && !isGoing) {
      await change(this.#components);
      this.#takenOut = false;
    } else if (!this.#takenOut && isGoing && (await this.#isGiven(client))) {
      await change({ flux: null, landscaper: null });
      this.#takenOut = true;
    }
  }

  async #isGiven(client: Client): Promise<boolean> {
    const found = await Promise.all(
      ['Landscaper' as const, 'CloudOrchestrator' as const].map((type) => client.get(kindOf(type), key)),
    );
    const conditions = found.flatMap((each) => (each as ReadonlyComponent | undefined)?.status?.conditions ?? []);
    return conditions.some(
      ({ reason, message }) => reason === 'WaitingForDependencies' && message?.includes('Take these out'),
    );
  }
}

async function components({ client }: TestCluster): Promise<ComponentType[]> {
  const found = await Promise.all(
    componentTypes.map(async (type) => ((await client.get(kindOf(type), key)) ? [type] : [])),
  );
  return found.flat();
}

/** Throws, with what is left, until nothing is. */
async function isGone(cluster: TestCluster): Promise<boolean> {
  const left = await Promise.all(
    [ManagedControlPlane, ...componentTypes.map(kindOf)].map((kind) => cluster.client.get(kind as Kind, key)),
  );
  const texts = left.flatMap((object) => (object ? [`${object.kind}: ${JSON.stringify(object.metadata)}`] : []));
  if (texts.length > 0) throw new Error(texts.join('\n'));
  return true;
}

/** Throws, with what it is waiting for, until all of it is as the last step wants it. */
async function isReady(cluster: TestCluster, { target }: Landscape, landscaper: boolean): Promise<boolean> {
  const found = await cluster.client.get(ManagedControlPlane, key);
  expect(found?.status).toMatchObject({ status: 'Ready', observedGeneration: found?.metadata.generation });
  const wanted = componentTypes.filter((type) => landscaper || type !== 'Landscaper');
  expect(await components(cluster)).toEqual(wanted);
  expect(await target.get(ClusterRole, { name: 'openmcp:view' })).toBeDefined();
  return true;
}

describe('a control plane in a storm comes to rest where its spec says', () => {
  // On the real API server, which plays both clusters, each takes long.
  test.each(stormSeeds({ quick: 2, full: 100, reference: 3 }))('storm %s', { timeout: 600_000 }, async (seed) => {
    const result = await playStorm(storyOf, seed, {
      replay: 'SLIPWAY_STORM=SEED npx vitest run packages/control-plane/test/storm.test.ts',
    });
    expect(result.writes).toBeGreaterThan(0);
  });
});
