import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Namespace } from '@slipway/kube';
import { keptObjects, nowOf, restoreObjects, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { storedSecrets } from '../src/secrets/stored-secrets.ts';
import { readConfigMap } from '../src/state/records.ts';
import { isApplied } from './life.ts';
import { places, platformWorld, type PlatformWorld } from './platform-kit.ts';

const recorded = join(import.meta.dirname, 'upgrade');
/** What 0.1.0 had made of a platform with a team: all objects, definitions included. Their secrets were made up for it. */
const left = await keptObjects(join(recorded, '0.1.0.jsonl.gz'));

/** The cluster and the repository as 0.1.0 had left them. */
async function restored(world: PlatformWorld): Promise<void> {
  const { repository } = world.git.server;
  const fetch = ['fetch', '--quiet', join(recorded, '0.1.0.bundle'), '+refs/*:refs/*'];
  await promisify(execFile)('git', fetch, { cwd: repository });
  await restoreObjects(world.cluster, left);
}

/** The versions of all that was there; one that is gone has none. */
const versions = ({ client }: TestCluster) =>
  nowOf(client, left, (metadata) => `${metadata?.uid} ${metadata?.resourceVersion}`);

async function headOf({ git }: PlatformWorld): Promise<string> {
  const { stdout } = await promisify(execFile)('git', ['rev-parse', 'main'], { cwd: git.server.repository });
  return stdout.trim();
}

test(
  'what 0.1.0 has left is taken over: an apply writes its two records and nothing else, and the next push arrives',
  { timeout: 300_000 },
  async () => {
    await using world = await platformWorld({ unshared: true });
    const { cluster } = world;
    await restored(world);
    const before = await versions(cluster);
    const secrets = await storedSecrets(cluster.client);
    const deployed = await readConfigMap(cluster.client, places.deployment);
    const head = await headOf(world);

    // A new pod: its folder is empty, and it is told no values.
    const settings = { ...world.withFolder('upgraded'), valuesInput: undefined };
    const running = await cluster.run([world.controller({ settings })]);
    await cluster.eventually('it has applied what it found', () =>
      running.logs.some(({ message }) => message === '[reconcile] Apply process completed'),
    );
    const after = await versions(cluster);
    expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual([
      'ConfigMap apl-operator/apl-operator-state',
      'ConfigMap otomi/deployment-status',
    ]);
    expect(await readConfigMap(cluster.client, places.deployment)).toEqual(deployed);
    expect(await storedSecrets(cluster.client)).toEqual(secrets);
    expect(await headOf(world)).toBe(head);

    const pushed = await world.git.push({ 'env/teams/green/settings.yaml': 'spec: {}\n' }, 'another team');
    await cluster.eventually('the team is there', () => isApplied(world, pushed));
    expect(await cluster.client.get(Namespace, { name: 'team-green' })).toBeDefined();
  },
);
