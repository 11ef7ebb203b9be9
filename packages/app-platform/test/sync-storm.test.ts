import { ConfigMap, Job } from '@slipway/kube';
import {
  onReference,
  playStorm,
  skipped,
  stormSeeds,
  type SeededRandom,
  type StormStory,
  type TestCluster,
} from '@slipway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Application } from '../src/argo/application.ts';
import { argo } from '../src/argo/words.ts';
import { nativeSyncController } from '../src/sync/controller.ts';
import {
  application,
  configMap,
  fakeRepositories,
  hookJob,
  repositoryUrl,
  syncCluster,
  syncSettings,
  type FakeRepositories,
  type Files,
} from './sync-kit.ts';

const full = process.env['SLIPWAY_SWEEP'] === 'full';
const embeddedOnly = skipped(
  onReference,
  'on the real API server: storms over a synchronization, which need virtual time',
);
const replay = 'SLIPWAY_STORM=SEED npx vitest run packages/app-platform/test/sync-storm.test.ts';

const name = 'shop';
const key = { namespace: 'argocd', name };
let repositories: FakeRepositories;
beforeAll(async () => (repositories = await fakeRepositories()));
afterAll(async () => await repositories[Symbol.asyncDispose]());

/** A few objects in two waves, between two hooks; which ones, the seed decides. */
function commitOf(random: SeededRandom): { readonly files: Files; readonly values: ReadonlyMap<string, string> } {
  const values = new Map(
    ['a', 'b', 'c'].filter(() => random.below(3) > 0).map((each) => [each, String(random.below(3))]),
  );
  const objects = [...values].map(([each, value]): [string, string] => [
    `app/${each}.yaml`,
    configMap(each, value, { [argo.syncWave]: each === 'a' ? '-1' : '0' }),
  ]);
  const files = {
    ...Object.fromEntries(objects),
    'app/always.yaml': configMap('always', '1'),
    'app/pre.yaml': hookJob({ name: 'pre', annotations: { [argo.hook]: 'PreSync' } }),
    'app/post.yaml': hookJob({
      name: 'post',
      annotations: { [argo.hook]: 'PostSync', [argo.hookDeletePolicy]: 'HookSucceeded' },
    }),
  };
  return { files, values: new Map([...values, ['always', '1']]) };
}

/** An Application is created and its repository pushed to, while processes die, others edit, and the API server is slow. */
function storyOf(random: SeededRandom): StormStory {
  const commits = Array.from({ length: 4 + random.below(4) }, () => commitOf(random));
  let pushed = '';
  let told: () => void = () => undefined;
  const push = async ({ files }: (typeof commits)[number]) => {
    pushed = await repositories.push(repositoryUrl(name), files);
    told();
  };
  const edited = (each: string) => ({
    name: `${each} is edited`,
    run: ({ client }: TestCluster) =>
      client.patch(ConfigMap, { namespace: name, name: each }, { type: 'merge', body: { data: { value: 'edited' } } }),
  });
  return {
    name: 'native sync',
    async cluster() {
      // Written before it begins: the storm does not wait for the disk.
      for (const { files } of commits) await repositories.push(repositoryUrl('written'), files);
      return await syncCluster({ controllers: 'workloads', outsideWork: true });
    },
    controllers() {
      const controller = nativeSyncController({ settings: syncSettings, sources: repositories.store });
      // As the webhook does; a process that is dead by then hears nothing, and the one after it finds the commit.
      told = () => controller.refresh();
      return [controller];
    },
    steps: [
      {
        name: 'create',
        async run({ client }) {
          await push(commits[0]!);
          const syncPolicy = { automated: { prune: true, selfHeal: true }, syncOptions: ['CreateNamespace=true'] };
          await client.create(application(name, { syncPolicy }, { finalizers: [argo.cascade] }));
        },
      },
      ...commits.slice(1).map((commit, index) => ({ name: `commit ${index + 2}`, run: () => push(commit) })),
    ],
    edits: [
      edited('a'),
      edited('always'),
      {
        name: 'an object is deleted',
        run: ({ client }) => client.delete(ConfigMap, { namespace: name, name: 'b' }),
      },
      {
        name: 'a hook is deleted',
        run: ({ client }) => client.delete(Job, { namespace: name, name: 'pre' }, { propagationPolicy: 'Background' }),
      },
      {
        name: 'somebody asks for a look',
        run: ({ client }) =>
          client.patch(Application, key, {
            type: 'merge',
            body: { metadata: { annotations: { [argo.refresh]: 'normal' } } },
          }),
      },
    ],
    async settled({ client }) {
      await repositories.idle();
      const { sync, operationState } = (await client.get(Application, key))?.status ?? {};
      if (sync?.status !== 'Synced' || sync.revision !== pushed || operationState?.phase !== 'Succeeded') return false;
      const found = new Map<string, string | undefined>();
      for await (const { metadata, data } of client.list(ConfigMap, { namespace: name }))
        if (metadata.annotations?.[argo.trackingId] !== undefined) found.set(metadata.name!, data?.['value']);
      const { values } = commits.at(-1)!;
      return found.size === values.size && [...values].every(([each, value]) => found.get(each) === value);
    },
    writes: { accepted: 4, sent: 8 },
    rages: 60,
  };
}

test.skipIf(embeddedOnly).each(stormSeeds({ quick: 1, full: 60 }))(
  'storm %s: kills, commits and edits between any two calls end where the last commit says',
  { timeout: full ? 600_000 : 300_000 },
  async (seed) => {
    const result = await playStorm(storyOf, seed, { replay });
    expect(result.writes).toBeGreaterThan(10);
  },
);
