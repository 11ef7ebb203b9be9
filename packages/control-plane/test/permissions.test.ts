import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient, type PolicyRule, toCustomResourceDefinition } from '@slipway/kube';
import { memoryLogger, startManager } from '@slipway/runtime';
import {
  givenWhenRefused,
  grant,
  isInForce,
  onReference,
  RefusalTransport,
  skipped,
  type TestCluster,
  unexpected,
  unneeded,
} from '@slipway/testing';
import { expect, test } from 'vitest';

import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { ControlPlane } from '../src/cloud-orchestrator/hand-off.ts';
import { ReleaseChannel } from '../src/cloud-orchestrator/managed-components.ts';
import { LandscaperDeployment } from '../src/landscaper/kinds.ts';
import { controlPlaneOperator } from '../src/operator.ts';
import { landscaperPermissions, onboardingPermissions, orchestratorPermissions } from '../src/permissions.ts';
import { coreKubeconfig, key, Landscape } from './landscape.ts';
import { serveControlPlanes, serveLandscapers } from './real-subjects.ts';
import { furnish, wholeLife } from './whole-life.ts';

/** What the chart gives every manager, whichever operators it runs. */
const common: readonly PolicyRule[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'update', 'patch'] },
];
/** Asked for by an admission plugin that not every server runs. */
const ofPlugins = (entry: string): boolean => entry.includes('/finalizers.');

const enforced = { embedded: { authorization: 'RBAC' } } as const;

test('its permissions are enough for everything the operator does', async () => {
  await using landscape = await Landscape.open(enforced);
  const { cluster } = landscape;
  await furnish(cluster.client);
  await grant(cluster, [...controlPlaneOperator.permissions, ...common]);
  const transport = new RefusalTransport(cluster);
  await isInForce(cluster, transport, controlPlaneOperator.permissions);
  const { logs } = await landscape.run(transport);
  await wholeLife(landscape);
  expect([...transport.refused]).toEqual([]);
  expect(logs.filter(({ level }) => level === 'error')).toEqual([]);
});

const together = skipped(
  onReference,
  'on the real API server: permissions one by one, which need clusters apart from each other',
);

test.skipIf(together)('each single permission on each cluster is refused until it is given', async () => {
  await using landscape = await Landscape.open(enforced);
  const { cluster } = landscape;
  await using folder = await temporaryFolder();
  await using core = await coreCluster(cluster);
  const givenOn = async (where: { readonly client: Client }) => {
    const { given, give } = await givenWhenRefused(where);
    return {
      given,
      give: async (entry: string) => {
        await give(entry);
        // So that it tries again at once: the pauses between its tries grow.
        const body = { metadata: { labels: { given: `${entry.length}-${given.size}` } } };
        await cluster.client.patch(ManagedControlPlane, key, { type: 'merge', body }).catch(() => undefined);
      },
    };
  };
  const onboarding = await givenOn(cluster);
  const elsewhere = await givenOn(core);
  const file = join(folder.path, 'kubeconfig');
  await writeFile(file, coreKubeconfig);
  landscape.core = { file, transport: new RefusalTransport(core, { onRefused: elsewhere.give }) };
  await furnish(core.client);
  await landscape.run(new RefusalTransport(cluster, { onRefused: onboarding.give }));
  await wholeLife(landscape);

  const coreRules = [...landscaperPermissions, ...orchestratorPermissions];
  expect(unexpected(onboarding.given, [...onboardingPermissions, ...common])).toEqual([]);
  expect(unneeded(onboarding.given, onboardingPermissions).filter((entry) => !ofPlugins(entry))).toEqual([]);
  expect(unexpected(elsewhere.given, coreRules)).toEqual([]);
  expect(unneeded(elsewhere.given, coreRules)).toEqual([]);
});

/** A cluster on which others serve Landscapers and ControlPlanes. */
async function coreCluster({ clock }: TestCluster) {
  const { startCluster } = await import('@slipway/apiserver');
  const crds = [LandscaperDeployment, ControlPlane, ReleaseChannel].map((kind) => toCustomResourceDefinition(kind));
  const embedded = await startCluster({ clock, authorization: 'RBAC', crds: crds as never[], controllers: 'core' });
  const transport = () => embedded.transportFor({});
  const client = createClient({ transport: transport(), fieldManager: 'test', clock });
  const servants = await startManager({
    cluster: { transport: transport() },
    clock,
    log: memoryLogger([]),
    controllers: [serveLandscapers(), serveControlPlanes()],
  });
  return {
    embedded,
    transport,
    client,
    async [Symbol.asyncDispose]() {
      await servants.stop();
      await embedded.stop();
    },
  };
}

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'slipway-permissions-'));
  return { path, [Symbol.asyncDispose]: async () => await rm(path, { recursive: true, force: true }) };
}
