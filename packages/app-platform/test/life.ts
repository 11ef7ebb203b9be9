import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Lease, type KubeObject } from '@slipway/kube';
import { onReference, snapshotCluster, type Scenario, type ScenarioStep, type TestCluster } from '@slipway/testing';

import { runGit } from '../src/git/git-process.ts';
import { names } from '../src/names.ts';
import { storedSecrets } from '../src/secrets/stored-secrets.ts';
import { readConfigMap } from '../src/state/records.ts';
import type { GitWorld } from './git-kit.ts';
import { disturbedGit, places, platformWorld, type PlatformWorld } from './platform-kit.ts';
import { observeLife } from './state-machines.ts';

/** Whether a process that is started again finds the folder of the one before: a container does, a pod does not. */
export type Folder = 'kept' | 'new';

/** Loops that seldom run: a new process begins with a round of each, and that has to be enough. Real time is too dear to wait for a poll. */
const rarely = { POLL_INTERVAL_MS: onReference ? '300' : '120000', RECONCILE_INTERVAL_MS: '3600000' };

const moreReplicas = 'kind: AplApp\nspec:\n    enabled: true\n    replicas: 3\n';
const workload = 'kind: AplTeamWorkload\nmetadata: {name: web}\nspec: {image: nginx}\n';

/** The life of a platform: installed, given a team, and changed. */
export function platformLife(folder: Folder): Scenario {
  let world!: PlatformWorld;
  let machines!: Awaited<ReturnType<typeof observeLife>>;
  let processes = 0;
  /** The process whose first reconcile is through. */
  let reconciled = 0;
  let wanted = '';
  const settled = async (commit?: string) => reconciled === processes && (await isApplied(world, commit));
  const push = (name: string, files: Record<string, string>): ScenarioStep => ({
    name,
    run: async () => void (wanted = await world.git.push(files, name)),
    settled: () => settled(wanted),
  });
  return {
    name: `app-platform, folder ${folder}`,
    async cluster() {
      world = await platformWorld({ env: rarely });
      processes = 0;
      reconciled = 0;
      const { cluster } = world;
      machines = await observeLife(cluster);
      return { ...leaseless(cluster), [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
    },
    controllers(calls) {
      processes += 1;
      const settings = folder === 'kept' ? world.settings : world.withFolder(`env-${processes}`);
      const process = processes;
      const controller = world.controller({ settings, git: disturbedGit(calls) });
      return [
        {
          ...controller,
          async reconcile(context, key) {
            const result = await controller.reconcile(context, key);
            if (key.name === 'reconcile') reconciled = process;
            return result;
          },
        },
      ];
    },
    steps: [
      { name: 'install', run: async () => undefined, settled: () => settled() },
      push('a team', { 'env/teams/blue/settings.yaml': 'spec: {}\n', 'env/teams/blue/workloads/web.yaml': workload }),
      push('more replicas', { 'env/apps/console.yaml': moreReplicas }),
    ],
    watch: () => machines,
    snapshot: (cluster) => snapshot(cluster, world),
  };
}

/** Whoever died keeps its lease for a while: real time is too dear to wait for its end. */
function leaseless(cluster: TestCluster): TestCluster {
  if (cluster.embedded) return cluster;
  return {
    ...cluster,
    async run(controllers, options) {
      if (await cluster.client.get(Lease, names.lease)) await cluster.client.delete(Lease, names.lease);
      return await cluster.run(controllers, options);
    },
  };
}

/** The platform is installed, and the last apply succeeded with this commit or a later one. */
export async function isApplied({ cluster, git }: PlatformWorld, commit?: string): Promise<boolean> {
  const { status: installation } = await readConfigMap(cluster.client, places.installation);
  const { status, commitHash = '' } = await readConfigMap(cluster.client, places.apply);
  if (installation !== 'completed' || status !== 'succeeded') return false;
  return commit === undefined || commit === commitHash || (await isAncestor(git.server.repository, commit, commitHash));
}

/** What is known of two commits stays true. Whoever waits asks at every turn, and a process each time would be half of a test. */
const ancestry = new Map<string, boolean>();

async function isAncestor(repository: string, older: string, newer: string): Promise<boolean> {
  const both = `${older}..${newer}`;
  const known = ancestry.get(both);
  if (known !== undefined) return known;
  const { exitCode } = await runGit(['merge-base', '--is-ancestor', older, newer], {
    cwd: repository,
    accept: [0, 1, 128],
  });
  // With 128 the server does not know one of them yet.
  if (exitCode !== 128) ancestry.set(both, exitCode === 0);
  return exitCode === 0;
}

/** The cluster and the repository as they are in the end, with the place of each secret where the secret is. */
async function snapshot({ client }: TestCluster, { git }: PlatformWorld): Promise<unknown> {
  const cluster = await snapshotCluster(client);
  for (const [id, object] of Object.entries(cluster)) {
    // Furniture of every namespace, which its controllers make in their own time.
    if (/^(configmaps\/.*\/kube-root-ca\.crt|serviceaccounts\/.*\/default)$/.test(id)) delete cluster[id];
    const { type, data } = object as KubeObject & { type?: string; data?: Record<string, string> };
    // How often a release was tried, and which attempt or commit it was in the end, differs from run to run.
    if (type === 'helm.sh/release.v1') delete cluster[id];
    else if (id.startsWith('secrets/') && data) cluster[id] = { ...(object as object), data: decoded(data) };
    for (const field of ['attempt', 'commitHash', 'trigger', 'timestamp']) delete data?.[field];
  }
  const files = await filesOf(git);
  return JSON.parse(withoutSecrets(JSON.stringify({ cluster, files }), await storedSecrets(client)));
}

function decoded(data: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

/** Every file at the head of the branch; of encrypted ones only that they are there. */
async function filesOf(git: GitWorld): Promise<Record<string, string>> {
  const copy = git.copy('reader');
  await copy.prepare();
  await copy.takeRemote();
  const { stdout } = await copy.git(['ls-files', '-z']);
  const files: Record<string, string> = {};
  for (const name of stdout.split('\0').filter(Boolean)) {
    const text = await readFile(join(copy.directory, name), 'utf8');
    files[name] = text.includes('ENC[AES256_GCM') ? '<encrypted>' : text;
  }
  return files;
}

/** Secrets are made at random: where each is, its place in the values stands instead. */
function withoutSecrets(text: string, secrets: unknown): string {
  const found: [secret: string, place: string][] = [];
  const collect = (node: unknown, place: string): void => {
    if (typeof node === 'string') {
      // Line by line: a certificate is indented where it is part of other YAML.
      for (const [line, text] of node.split('\n').entries())
        if (text.length >= 12) found.push([JSON.stringify(text).slice(1, -1), `<${place}:${line}>`]);
    }
    if (typeof node !== 'object' || node === null) return;
    for (const [key, child] of Object.entries(node)) collect(child, `${place}.${key}`);
  };
  collect(secrets, 'secret');
  // The whole tree is stored as one text.
  const blanked = text.replace(/"deployment-passwords":"(?:[^"\\]|\\.)*"/, '"deployment-passwords":"<secrets>"');
  return found
    .sort(([a], [b]) => b.length - a.length)
    .reduce((clean, [secret, place]) => clean.replaceAll(secret, place), blanked);
}
