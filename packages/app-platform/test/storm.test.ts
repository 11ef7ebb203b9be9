import { ConfigMap, Namespace } from '@slipway/kube';
import { onReference, playStorm, skipped, stormSeeds, type SeededRandom, type StormStory } from '@slipway/testing';
import { expect, test } from 'vitest';

import { names } from '../src/names.ts';
import { Application } from '../src/platform/applications.ts';
import { installationState } from '../src/state/installation-status.ts';
import { isApplied } from './life.ts';
import { disturbedGit, operatorRole, platformWorld, type PlatformWorld } from './platform-kit.ts';
import { watchStateMachines } from './state-machines.ts';

const full = process.env['SLIPWAY_SWEEP'] === 'full';
const soak = process.env['SLIPWAY_SOAK'] === '1';
const embeddedOnly = skipped(onReference, 'on the real API server: storms over a platform, which need virtual time');
const replay = 'SLIPWAY_STORM=SEED npx vitest run packages/app-platform/test/storm.test.ts';

/** Where replicas elect a leader, the manager's role in its own namespace lets it. */
const leaseOfReplicas = {
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  resourceNames: ['storm'],
  verbs: ['get', 'update'],
};

/** Installed and changed while processes die, others edit, and Git and the API server are slow: one replica or two, without leader election. */
function storyOf(random: SeededRandom): StormStory {
  let world!: PlatformWorld;
  let processes = 0;
  let wanted: string | undefined;
  const replicas = Array.from({ length: 1 + random.below(2) }, () => 1 + random.below(9));
  const push = (name: string, files: Record<string, string>) => ({
    name,
    run: async () => void (wanted = await world.git.push(files, name)),
  });
  return {
    name: 'app-platform',
    async cluster() {
      world = await platformWorld({ role: [...operatorRole, leaseOfReplicas] });
      return { ...world.cluster, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
    },
    controllers(calls) {
      processes += 1;
      return [world.controller({ settings: world.withFolder(`env-${processes}`), git: disturbedGit(calls) })];
    },
    steps: [
      { name: 'install', run: async () => undefined },
      push('a team', { 'env/teams/blue/settings.yaml': 'kind: AplTeamSettingSet\nspec: {}\n' }),
      ...replicas.map((count) =>
        push(`${count} replicas`, {
          'env/apps/console.yaml': `kind: AplApp\nspec:\n    enabled: true\n    replicas: ${count}\n`,
        }),
      ),
    ],
    edits: [
      {
        name: 'an application is deleted',
        run: ({ client }) => client.delete(Application, { namespace: 'argocd', name: 'console-console' }),
      },
      {
        name: 'the labels of a team namespace are changed',
        async run({ client }) {
          // An installation takes nothing from others and would wait for ever until they take it back: see steps.test.ts.
          if ((await installationState(client)) !== 'completed') return;
          await client.patch(
            Namespace,
            { name: 'team-red' },
            { type: 'merge', body: { metadata: { labels: { type: 'x' } } } },
          );
        },
      },
      {
        name: 'somebody writes into the state',
        run: ({ client }) =>
          client.patch(
            ConfigMap,
            { namespace: names.operatorNamespace, name: names.operatorState },
            { type: 'merge', body: { metadata: { annotations: { seen: 'yes' } } } },
          ),
      },
    ],
    async settled(cluster) {
      if (!(await isApplied(world, wanted))) return false;
      const { client } = cluster;
      const team = await client.get(Namespace, { name: 'team-red' });
      const console_ = await client.get(Application, { namespace: 'argocd', name: 'console-console' });
      const wantsReplicas = `replicas: ${replicas.at(-1)}`;
      return team?.metadata.labels?.['type'] === 'team' && JSON.stringify(console_?.spec ?? '').includes(wantsReplicas);
    },
    watch: watchStateMachines,
    // A reconcile every five minutes writes its state twice, and each object once.
    writes: { accepted: 10, sent: 20 },
    rages: 100,
  };
}

test.skipIf(embeddedOnly).each(stormSeeds({ quick: 1, full: soak ? 60 : 20 }))(
  'storm %s: kills, pushes, edits and outages between any two calls, and every state machine keeps to its steps',
  { timeout: full ? 600_000 : 300_000 },
  async (seed) => {
    const result = await playStorm(storyOf, seed, { replay });
    expect(result.writes).toBeGreaterThan(30);
  },
);
