import { ConfigMap, findCondition, isConditionTrue, Secret, type KubeObject } from '@slipway/kube';
import {
  onReference,
  snapshotCluster,
  sweepCrashes,
  sweepFaults,
  testCluster,
  type Scenario,
  type ScenarioStep,
  type TestCluster,
  skipped,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { activeOperandControllers } from '../src/active/controllers.ts';
import { ActiveOperand, ClusterActiveOperand, Operand } from '../src/api.ts';
import { names } from '../src/names.ts';
import { operandController } from '../src/operand/controller.ts';
import { watchInvariants } from './invariants.ts';

const configMap = (name: string, value = '1'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name },
  data: { value },
});

interface Wish {
  steadyState: KubeObject[];
  postInstall?: KubeObject[];
  checkDeploymentHealth?: boolean;
  onFailure?: 'Rollback';
  healthRules?: unknown[];
}

function create(wish: Wish): ScenarioStep {
  return step('create', wish, async ({ client }) => {
    await client.create({
      apiVersion: Operand.apiVersion,
      kind: 'Operand',
      metadata: { name: 'shop' },
      spec: { checkDeploymentHealth: false, ...wish },
    } as unknown as Operand);
  });
}

function change(name: string, wish: Wish): ScenarioStep {
  return step(name, wish, async ({ client }) => {
    await client.patch(Operand, { name: 'shop' }, { type: 'merge', body: { spec: { postInstall: null, ...wish } } });
  });
}

/** A change to a set that stays pending: the step is over when the set exists and has failed to install. */
function stuck(name: string, wish: Wish): ScenarioStep {
  return {
    ...change(name, wish),
    async settled({ client }) {
      const operand = await client.get(Operand, { name: 'shop' });
      const pending = operand?.status?.latestCreatedActiveOperand;
      if (!pending || operand.status?.observedGeneration !== operand.metadata.generation) return false;
      const set = await client.get(ClusterActiveOperand, { name: pending });
      return (
        set?.spec.live?.length === wish.steadyState.length &&
        findCondition(operand, 'OperandInstalled')?.reason === 'Failed'
      );
    },
  };
}

/** A change that fails: the step is over when what was there before is in force again. */
function failing(name: string, wish: Wish, before: Wish): ScenarioStep {
  return {
    ...change(name, wish),
    async settled(cluster) {
      const { client } = cluster;
      const operand = await client.get(Operand, { name: 'shop' });
      const state = await client.get(ConfigMap, { namespace: 'default', name: 'state' });
      return (
        findCondition(operand, 'OperandInstalled')?.reason === 'RolledBack' &&
        state?.data?.['value'] === 'good' &&
        (await holdsExactly(cluster, before))
      );
    },
  };
}

function step(name: string, wish: Wish, run: (cluster: TestCluster) => Promise<void>): ScenarioStep {
  return { name, run, settled: (cluster) => isInForce(cluster, wish) };
}

async function isInForce(cluster: TestCluster, wish: Wish): Promise<boolean> {
  const { client } = cluster;
  const operand = await client.get(Operand, { name: 'shop' });
  if (
    !operand ||
    !isConditionTrue(operand, 'Ready') ||
    operand.status?.observedGeneration !== operand.metadata.generation
  )
    return false;
  if (wish.onFailure === 'Rollback') {
    // The copies of what was kept before are gone.
    const kept = await Array.fromAsync(client.list(Secret, { labelSelector: names.keptManifestLabel }));
    if (!isConditionTrue(operand, 'RollbackPossible') || kept.length !== 1) return false;
    if (
      findCondition(operand, 'RollbackPossible')?.message !==
      `the manifest of generation ${operand.metadata.generation} is kept`
    )
      return false;
  }
  return await holdsExactly(cluster, wish);
}

/** One set is left, and no other members than those of the wish are. */
async function holdsExactly({ client }: TestCluster, wish: Wish): Promise<boolean> {
  const operand = await client.get(Operand, { name: 'shop' });
  if ((operand?.status?.carryOver ?? []).length > 0) return false;
  const sets = await Array.fromAsync(client.list(ClusterActiveOperand));
  const mirrors = await Array.fromAsync(client.list(ActiveOperand));
  if (mirrors.some((mirror) => mirror.metadata.name !== sets[0]?.metadata.name)) return false;
  const wanted = new Set([...wish.steadyState, ...(wish.postInstall ?? [])].map((object) => object.metadata.name));
  const scope = { namespace: 'default', labelSelector: 'manifests.slipway.dev/member' };
  const present = [
    ...(await Array.fromAsync(client.list(ConfigMap, scope))),
    ...(await Array.fromAsync(client.list(Secret, scope))),
  ].map((object) => object.metadata.name);
  return sets.length === 1 && present.length === wanted.size && present.every((name) => wanted.has(name));
}

const remove: ScenarioStep = {
  name: 'delete',
  async run({ client }) {
    await client.delete(Operand, { name: 'shop' });
  },
  async settled({ client }) {
    return (await client.get(Operand, { name: 'shop' })) === undefined;
  },
};

function scenario(name: string, steps: readonly ScenarioStep[]): Scenario {
  return {
    name,
    cluster: () => testCluster({ kinds: [Operand, ClusterActiveOperand, ActiveOperand] }),
    controllers: () => [operandController(), ...activeOperandControllers()],
    steps,
    snapshot: ({ client }) => snapshotCluster(client),
    watch: watchInvariants,
  };
}

const a = { steadyState: [configMap('a'), configMap('shared')] };
const b = { steadyState: [configMap('b'), configMap('shared')] };
/** Cannot become ready: one member has no namespace to live in. */
const lost: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'nowhere', name: 'lost' } };
const stuckB = { steadyState: [configMap('b'), configMap('shared'), lost] };
const stuckC = { steadyState: [configMap('b'), configMap('c'), configMap('shared'), lost] };

const hidden = (password: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'default', name: 'hidden' },
  stringData: { password },
});
/** Health is a value of the ConfigMap `state`; the Secret is kept in a Secret. */
const guarded = (state: string, password: string, ...more: KubeObject[]): Wish => ({
  steadyState: [configMap('state', state), hidden(password), ...more],
  checkDeploymentHealth: true,
  onFailure: 'Rollback',
  healthRules: [
    {
      kind: 'ConfigMap',
      failed: { path: '.data.value', equals: 'broken' },
      current: { path: '.metadata.uid' },
    },
  ],
});

/** On the real API server a life takes seconds: there it is one life with everything in it, and a handful of deaths. */
const wholeLife = scenario('a whole life', [
  create({ ...a, postInstall: [configMap('after')] }),
  change('to b', b),
  stuck('to c, which stays pending', stuckC),
  change('back to b', b),
  remove,
]);
const stories = [
  scenario('install', [create({ steadyState: [configMap('a')], postInstall: [configMap('after')] })]),
  scenario('add and remove members', [create(a), change('to b', b)]),
  scenario('content change', [
    create(a),
    change('new content', { steadyState: [configMap('a', '2'), configMap('shared', '2')] }),
  ]),
  scenario('back to the previous set', [create(a), stuck('to b', stuckB), change('back to a', a)]),
  scenario('superseding a pending set twice', [
    create(a),
    stuck('to b', stuckB),
    stuck('to c', stuckC),
    change('to d', { steadyState: [configMap('c'), configMap('shared')] }),
  ]),
  scenario('roll-back of a failed change', [
    create(guarded('good', 'first')),
    change('new content', guarded('good', 'second')),
    failing('a change that fails', guarded('broken', 'third', configMap('more')), guarded('good', 'second')),
  ]),
  scenario('delete', [create(a), remove]),
  scenario('delete and create again at once', [create(a), { ...remove, name: 'delete at once' }, create(b)]),
];
const scenarios = onReference ? [wholeLife] : stories;

/** All points take minutes: `SLIPWAY_SWEEP=full` (a lane of its own) tries them all, otherwise some are. */
const full = process.env['SLIPWAY_SWEEP'] === 'full';
const stride = full ? 1 : 37;
const first = full ? 0 : 7;
/** The longest stories take larger steps. */
const strideOf = ({ name }: Scenario) => (stride > 1 && /^(roll-back|superseding)/.test(name) ? 3 * stride : stride);

describe('an operator that dies at any write', () => {
  test.each(scenarios)('$name', { timeout: 900_000 }, async (each) => {
    const points = onReference ? ({ stride: 17, phases: ['after'] } as const) : { first, stride: strideOf(each) };
    const result = await sweepCrashes(each, points);
    // oxlint-disable-next-line no-console -- how much was covered is part of the result
    console.log(`${result.scenario}: killed at ${result.points} points around ${result.requests} writes`);
    expect(result.points).toBeGreaterThan(onReference ? 2 : result.requests / points.stride);
  });
});

const embeddedOnly = skipped(
  onReference,
  'on the real API server: faults at its requests, which would take hours there',
);

describe.skipIf(embeddedOnly)('an operator with stale caches, lost events, lost answers and conflicts', () => {
  test.each(full ? stories : stories.slice(0, 3))('$name', { timeout: 300_000 }, async (each) => {
    const result = await sweepFaults(each, { stride: strideOf(each) });
    // oxlint-disable-next-line no-console -- how much was covered is part of the result
    console.log(`${result.scenario}: ${result.points} disturbed runs around ${result.requests} writes`);
    expect(result.points).toBeGreaterThan(3);
  });
});
