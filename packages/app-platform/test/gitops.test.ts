import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigMap, Namespace } from '@slipway/kube';
import type { TestManager } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runGit } from '../src/git/git-process.ts';
import { names } from '../src/names.ts';
import { Application } from '../src/platform/applications.ts';
import { readConfigMap, readSecret } from '../src/state/records.ts';
import { canary } from './git-kit.ts';
import { platformWorld, type PlatformWorld } from './platform-kit.ts';
import { tellingWrites } from './told-writes.ts';

const statePlace = { namespace: names.operatorNamespace, name: names.operatorState };
const limit = 120_000;

describe('phase 2 on a platform that was installed', () => {
  let world: PlatformWorld;
  let running: TestManager;
  /** Every state the operator recorded, in order. */
  const states: string[] = [];

  beforeAll(async () => {
    world = await platformWorld();
    const transport = tellingWrites(world.cluster.transport(), (object) => {
      if (object.metadata?.name !== names.operatorState) return;
      const { status, trigger, commitHash } = (object as { data?: Record<string, string> }).data ?? {};
      states.push(`${status} ${trigger} ${commitHash}`);
    });
    running = await world.cluster.run([world.controller()], { cluster: { transport } });
    await settled();
  }, limit);
  afterAll(async () => await world[Symbol.asyncDispose]());

  const state = async () => await readConfigMap(world.cluster.client, statePlace);

  /** The operator is through with a commit, or with whatever it has. */
  async function settled(commit?: string): Promise<Record<string, string>> {
    return await world.cluster.eventually('an apply is through', async () => {
      const now = await state();
      const done = now['status'] === 'succeeded' || now['status'] === 'failed';
      return done && (commit === undefined || now['commitHash'] === commit) ? now : undefined;
    });
  }

  /** The operator has looked at this commit, whether it applied it or not. */
  async function looked(commit: string): Promise<void> {
    const seen = () =>
      running.logs.some(({ message, fields }) => message === 'Repository updated' && fields['to'] === commit);
    await world.cluster.eventually('the commit was seen', seen);
  }

  test(
    'Start-up: the first apply is a reconcile, with the commit of the installation',
    async () => {
      expect(await state()).toMatchObject({ status: 'succeeded', trigger: 'reconcile' });
      expect((await state())['commitHash']).toMatch(/^[0-9a-f]{40}$/);
    },
    limit,
  );

  test(
    'ConfigMaps: the state has exactly the fields of its table',
    async () => {
      expect(Object.keys(await state()).sort()).toEqual(['commitHash', 'status', 'timestamp', 'trigger']);
    },
    limit,
  );

  test(
    'Teams-only: a change below env/teams brings the namespace and the application, and leaves the deployment state',
    async () => {
      const before = await world.cluster.client.get(ConfigMap, { namespace: 'otomi', name: names.deploymentStatus });
      const commit = await world.git.push(
        {
          'env/teams/blue/settings.yaml': 'kind: AplTeamSettingSet\nspec: {}\n',
          'env/teams/blue/workloads/web.yaml': 'kind: AplTeamWorkload\nmetadata: {name: web}\nspec: {image: nginx}\n',
        },
        'a team',
      );
      expect(await settled(commit)).toMatchObject({ status: 'succeeded', trigger: 'poll' });
      const { client } = world.cluster;
      expect((await client.get(Namespace, { name: 'team-blue' }))?.metadata.labels).toMatchObject({ type: 'team' });
      expect(await client.get(Application, { namespace: 'argocd', name: 'team-blue-web' })).toMatchObject({
        metadata: { labels: { 'otomi.io/app': 'managed' } },
        spec: {
          project: 'default',
          source: { path: 'charts/team-workload', targetRevision: 'v1.0.0', helm: { releaseName: 'web' } },
          destination: { server: 'https://kubernetes.default.svc', namespace: 'team-blue' },
          syncPolicy: { automated: { prune: true, allowEmpty: false, selfHeal: true } },
        },
      });
      const after = await client.get(ConfigMap, { namespace: 'otomi', name: names.deploymentStatus });
      expect(after?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    },
    limit,
  );

  test(
    'Defaults are written back to Git with the skip marker, and our own commit triggers nothing',
    async () => {
      const copy = world.git.copy('reader');
      await copy.prepare();
      await copy.takeRemote();
      expect(await readFile(join(copy.directory, 'env/teams/blue/policies/require-labels.yaml'), 'utf8')).toContain(
        'Audit',
      );
      for (const folder of ['sealedsecrets', 'workloadValues'])
        expect(await readFile(join(copy.directory, 'env/teams/blue', folder, '.gitkeep'), 'utf8')).toBe('');
      const { stdout } = await copy.git(['log', '-1', '--format=%s by %an <%ae>']);
      expect(stdout.trim()).toBe('updated values [ci skip] by otomi-admin <pipeline@cluster.local>');
      const head = (await copy.revision())!;
      await looked(head);
      expect(states.some((line) => line.includes(head))).toBe(false);
    },
    limit,
  );

  test(
    'Skip logic: a commit with [ci skip] in its subject is ignored',
    async () => {
      const commit = await world.git.push({ 'env/apps/console.yaml': app(7) }, 'more replicas [ci skip]');
      await looked(commit);
      expect((await state())['commitHash']).not.toBe(commit);
      expect(await consoleValues()).not.toContain('7');
    },
    limit,
  );

  test(
    'Other files changed: a full apply, with the values inline',
    async () => {
      const commit = await world.git.push({ 'env/apps/console.yaml': app(3) }, 'more replicas');
      expect(await settled(commit)).toMatchObject({ status: 'succeeded', trigger: 'poll' });
      expect(await consoleValues()).toContain('replicas: 3');
    },
    limit,
  );

  test(
    'On apply error: a broken value shows as failed with file, line and path, and the cluster stays',
    async () => {
      const commit = await world.git.push({ 'env/apps/console.yaml': app('"many"') }, 'oops');
      const failed = await settled(commit);
      expect(failed['status']).toBe('failed');
      expect(failed['errorMessage']).toContain('Values validation failed');
      expect(failed['errorMessage']).toMatch(/env\/apps\/console\.yaml:\d+: apps\.console\.replicas: must be integer/);
      expect(await consoleValues()).toContain('replicas: 3');
      const mended = await world.git.push({ 'env/apps/console.yaml': app(4) }, 'mended');
      expect(await settled(mended)).toMatchObject({ status: 'succeeded' });
      expect(Object.keys(await state())).not.toContain('errorMessage');
      expect(await consoleValues()).toContain('replicas: 4');
    },
    limit,
  );

  test(
    'Removal: a release that is not to be installed any more loses its application, with the finalizer that cascades',
    async () => {
      const { client } = world.cluster;
      const commit = await world.git.push({ 'env/apps/console.yaml': app(4, false) }, 'no console');
      expect(await settled(commit)).toMatchObject({ status: 'succeeded' });
      const left = await client.get(Application, { namespace: 'argocd', name: 'console-console' });
      expect(left?.metadata.deletionTimestamp).toBeDefined();
      expect(left?.metadata.finalizers).toEqual(['resources-finalizer.argocd.argoproj.io']);
    },
    limit,
  );

  test(
    'Git: a renamed branch and an emptied repository show in the state with what to do, and the platform stays; back again, it is applied',
    async () => {
      const { server } = world.git;
      const git = (...args: string[]) => runGit(args, { cwd: server.repository });
      const shown = async (text: string) =>
        await world.cluster.eventually(text, async () => (await state())['errorMessage']?.includes(text));
      await git('symbolic-ref', 'HEAD', 'refs/heads/trunk');
      await git('branch', '-m', 'main', 'trunk');
      await shown('the repository has no branch main any more, only trunk; push main again');
      await git('update-ref', 'refs/kept/trunk', 'refs/heads/trunk');
      await git('update-ref', '-d', 'refs/heads/trunk');
      await shown('the repository is empty; push main again');
      expect(await state()).toMatchObject({ status: 'failed', trigger: 'poll' });
      expect(await world.cluster.client.get(Namespace, { name: 'team-blue' })).toBeDefined();
      await git('update-ref', 'refs/heads/main', 'refs/kept/trunk');
      await git('update-ref', '-d', 'refs/kept/trunk');
      await git('symbolic-ref', 'HEAD', 'refs/heads/main');
      await world.cluster.eventually('it is well again', async () => (await state())['status'] === 'succeeded');
    },
    limit,
  );

  test('Apply state machine: every apply goes from in-progress to succeeded or failed', () => {
    let open: string | undefined;
    for (const line of states) {
      const [status, ...rest] = line.split(' ');
      if (status === 'in-progress') open = rest.join(' ');
      else expect(rest.join(' ')).toBe(open);
    }
    expect(states.length).toBeGreaterThan(6);
  });

  test(
    'Secrets: in no log line, state, error or plain file; encrypted in Git',
    async () => {
      const { client } = world.cluster;
      const { GIT_PASSWORD: password } = await readSecret(client, {
        namespace: 'apl-operator',
        name: 'gitea-credentials',
      });
      expect(password).toBe(canary);
      expect(JSON.stringify([running.logs, states, await state()])).not.toContain(canary);
      const copy = world.git.copy('reader');
      await copy.takeRemote();
      const { stdout } = await copy.git(['grep', '-l', '-e', canary], { accept: [0, 1] });
      expect(stdout).toBe('');
      const secretFile = 'env/apps/secrets.gitea.yaml';
      expect(await readFile(join(copy.directory, secretFile), 'utf8')).toContain('ENC[AES256_GCM');
      // TRAP: a poll removes what is decrypted, and the defaults it then writes are none of ciphertext.
      const decrypted = await readFile(join(world.settings.envDir, `${secretFile}.dec`), 'utf8');
      expect(decrypted).toContain(canary);
      expect(decrypted).not.toContain('ENC[');
    },
    limit,
  );

  async function consoleValues(): Promise<string> {
    const found = await world.cluster.client.get(Application, { namespace: 'argocd', name: 'console-console' });
    return JSON.stringify(found?.spec);
  }
});

function app(replicas: number | string, enabled = true): string {
  return `kind: AplApp\nmetadata:\n    name: console\n    labels: {}\nspec:\n    enabled: ${enabled}\n    replicas: ${replicas}\n`;
}
