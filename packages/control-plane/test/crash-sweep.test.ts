import { type KubeObject, RoleBinding } from '@slipway/kube';
import {
  onReference,
  type Scenario,
  type ScenarioStep,
  skipped,
  snapshotCluster,
  sweepCrashes,
  type TestCluster,
  testCluster,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { InternalConfiguration } from '../src/api/internal-configuration.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { componentKinds, type ComponentType, componentTypes, kindOf } from '../src/component/component-type.ts';
import { managedControlPlaneController } from '../src/managed-control-plane/controller.ts';
import type { ReadonlyComponent } from '../src/component/component-resource.ts';
import { key as real, Landscape, mcp } from './landscape.ts';
import { plainComponents } from './plain-components.ts';

const key = { namespace: 'default', name: 'demo' };
const spec = {
  authorization: { roleBindings: [] },
  components: { apiServer: { type: 'Gardener' }, landscaper: {}, crossplane: { version: '1.20.0' } },
};

async function components({ client }: TestCluster): Promise<ComponentType[]> {
  const found = await Promise.all(
    componentTypes.map(async (type) => ((await client.get(kindOf(type), key)) ? [type] : [])),
  );
  return found.flat();
}

async function isReady(cluster: TestCluster, wanted: readonly ComponentType[] = componentTypes): Promise<boolean> {
  const mcp = await cluster.client.get(ManagedControlPlane, key);
  const current = mcp?.status?.observedGeneration === mcp?.metadata.generation;
  if (!current || mcp?.status?.status !== 'Ready') return false;
  return JSON.stringify(await components(cluster)) === JSON.stringify(wanted);
}

const create: ScenarioStep = {
  name: 'create',
  run: async ({ client }) => {
    await client.create({
      apiVersion: ManagedControlPlane.apiVersion,
      kind: 'ManagedControlPlane',
      metadata: key,
      spec,
    } as KubeObject);
  },
  settled: async (cluster) => await isReady(cluster),
};

function change(name: string, patch: object, settled: ScenarioStep['settled']): ScenarioStep {
  return {
    name,
    run: async ({ client }) => {
      await client.patch(ManagedControlPlane, key, { type: 'merge', body: { spec: patch } });
    },
    settled,
  };
}

const disabled: ScenarioStep['settled'] = async ({ client }) => {
  const found = await client.get(kindOf('Landscaper'), key);
  return found?.metadata.annotations?.['openmcp.cloud/operation'] === 'ignore';
};

const remove: ScenarioStep = {
  name: 'delete',
  run: async ({ client }) => {
    await client.delete(ManagedControlPlane, key);
  },
  settled: async (cluster) =>
    (await cluster.client.get(ManagedControlPlane, key)) === undefined && (await components(cluster)).length === 0,
};

function scenario(name: string, steps: readonly ScenarioStep[]): Scenario {
  return {
    name,
    cluster: () =>
      testCluster({ kinds: [ManagedControlPlane, InternalConfiguration, ...Object.values(componentKinds)] }),
    controllers: () => [managedControlPlaneController({ active: componentTypes }), ...plainComponents()],
    steps,
    snapshot: async ({ client }) => withoutOrder(await snapshotCluster(client)),
  };
}

/** Finalizers are a set: who came first says nothing. */
function withoutOrder(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, item: unknown) => (name === 'finalizers' ? (item as string[]).toSorted() : item)),
  );
}

/** Each run has a control plane with keys of its own. */
function withoutCredentials(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, item: unknown) => (name === 'data' || name === 'kubeconfig' ? '<made>' : item)),
  );
}

const withoutLandscaper = componentTypes.filter((type) => type !== 'Landscaper');

const anotherVersion = change('another version', { components: { crossplane: { version: '1.21.0' } } }, (cluster) =>
  isReady(cluster),
);
const disable = change('disable', { disabledComponents: ['Landscaper'] }, disabled);
const enable = change('enable', { disabledComponents: null }, (cluster) => isReady(cluster));
const takeOut = change('without landscaper', { components: { landscaper: null } }, (cluster) =>
  isReady(cluster, withoutLandscaper),
);

/** On the real API server a life takes seconds: there it is one life with everything in it. */
const scenarios = onReference
  ? [scenario('a whole life', [create, anotherVersion, disable, enable, takeOut, remove])]
  : [
      scenario('create', [create]),
      scenario('change', [create, anotherVersion]),
      scenario('disable and re-enable', [create, disable, enable]),
      scenario('component removed from the spec', [create, takeOut]),
      scenario('deletion with dependants', [create, remove]),
    ];

/** With the real components and a control plane of its own: every write to either of the two clusters may be the last. */
function onTwoClusters(name: string, stepsOn: (landscape: () => Landscape) => readonly ScenarioStep[]): Scenario {
  let landscape: Landscape | undefined;
  return {
    name,
    cluster: async () => {
      const open = (landscape = await Landscape.open());
      return { ...open.cluster, [Symbol.asyncDispose]: () => open[Symbol.asyncDispose]() };
    },
    controllers: (calls) => landscape!.controllers(calls),
    steps: stepsOn(() => landscape!),
    snapshot: async ({ client }) => [
      withoutOrder(withoutCredentials(await snapshotCluster(client))),
      withoutOrder(withoutCredentials(await snapshotCluster(landscape!.target))),
    ],
    // Whoever is cut off tries again, ever more slowly.
    writes: { accepted: 12, sent: 40 },
  };
}

const createReal: ScenarioStep = {
  name: 'create',
  run: async ({ client }) => void (await client.create(mcp())),
  settled: async ({ client }) => (await client.get(ManagedControlPlane, real))?.status?.status === 'Ready',
};

/** What is left on both clusters: nothing that was not there before. */
const unreachable = onTwoClusters('deletion while a target is unreachable', (landscape) => [
  createReal,
  {
    name: 'delete it, cut off',
    run: async ({ client }) => {
      landscape().reachable = false;
      await client.delete(ManagedControlPlane, real);
    },
    // What has to be cleaned up there keeps its finalizer, and says why.
    settled: async ({ client }) => {
      const { metadata, status } = (await client.get(kindOf('Authentication'), real)) as ReadonlyComponent;
      const waiting = status?.conditions?.some((condition) => condition.status !== 'True' && condition.message);
      return Boolean(waiting && metadata.finalizers?.includes('openmcp.cloud.authentication'));
    },
  },
  {
    name: 'reach it again',
    run: async () => {
      landscape().reachable = true;
    },
    settled: async ({ client }) => (await client.get(ManagedControlPlane, real)) === undefined,
  },
]);

/** What people may do there, and who they are, is the same whenever the operator died. */
const otherPeople = onTwoClusters('other people on a target', (landscape) => [
  createReal,
  {
    name: 'a namespace of a user, and another user',
    run: async ({ client }) => {
      await landscape().target.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
      const subjects = [{ kind: 'User', name: 'corp:eve' }];
      const body = { spec: { authorization: { roleBindings: [{ role: 'admin', subjects }] } } };
      await client.patch(ManagedControlPlane, real, { type: 'merge', body });
    },
    settled: async ({ client }) => {
      const found = await client.get(ManagedControlPlane, real);
      const binding = await landscape().target.get(RoleBinding, { namespace: 'shop', name: 'openmcp:admin' });
      const current = found?.status?.observedGeneration === found?.metadata.generation;
      return current && found?.status?.status === 'Ready' && binding?.subjects?.[0]?.name === 'corp:eve';
    },
  },
]);

const full = process.env['SLIPWAY_SWEEP'] === 'full';
/** All points take minutes: `npm run test:sweep` kills at every write, `npm test` and the real API server at a few. */
const stride = onReference ? 45 : full ? 1 : 67;
const first = onReference || full ? 0 : 20;
async function sweep(scenario: Scenario, every: number): Promise<void> {
  const result = await sweepCrashes(scenario, { first, stride: every });
  // oxlint-disable-next-line no-console -- how much was covered is part of the result
  console.log(`${result.scenario}: killed at ${result.points} points around ${result.requests} writes`);
  expect(result.points).toBeGreaterThan(result.requests / every);
}

const embeddedOnly = skipped(
  onReference,
  'on the real API server: the crash sweep over two clusters, which takes minutes there',
);

describe('a control plane operator that dies at any write comes to the same end', () => {
  test.each(scenarios)('$name', { timeout: 1_200_000 }, async (each) => {
    await sweep(each, stride);
  });

  test.skipIf(embeddedOnly).each([unreachable, otherPeople])('$name', { timeout: 1_200_000 }, async (each) => {
    // A whole landscape for each point: few of them where time is short.
    await sweep(each, full ? stride : stride * 2);
  });
});
