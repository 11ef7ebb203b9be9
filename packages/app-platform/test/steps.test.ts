import {
  ConfigMap,
  CustomResourceDefinition,
  isConditionTrue,
  Namespace,
  newObject,
  Secret,
  type Kind,
} from '@slipway/kube';
import { generateAgeKey } from '@slipway/sops';
import { testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { definitionName } from '../src/argo/application-definition.ts';
import { applyCrds } from '../src/install/apply-crds.ts';
import { ForeignFieldsError, takingNothing } from '../src/install/foreign-fields.ts';
import { initialSetupData } from '../src/install/initial-setup-data.ts';
import { processValues } from '../src/install/process-values.ts';
import { setEnvAndCreateSecrets } from '../src/install/set-env-and-create-secrets.ts';
import { apply } from '../src/gitops/apply-all.ts';
import { applyTeams } from '../src/gitops/apply-teams.ts';
import type { WorkingCopy } from '../src/git/working-copy.ts';
import { Application, applyAsApps, argoApplications } from '../src/platform/applications.ts';
import { commit } from '../src/platform/commit.ts';
import type { Helmfile } from '../src/platform/helmfile.ts';
import { deployEssential } from '../src/platform/deploy-essential.ts';
import type { Platform } from '../src/platform/platform.ts';
import { runtimeUpgrade } from '../src/platform/runtime-upgrade.ts';
import { storedSecrets } from '../src/secrets/stored-secrets.ts';
import { deploymentState, setDeploymentState } from '../src/state/deployment-state.ts';
import { readConfigMap, readSecret, writeConfigMap } from '../src/state/records.ts';
import type { PlatformRoot } from '../src/values/platform-root.ts';
import { valueAt, type Tree } from '../src/values/tree.ts';
import { initialValues } from './platform-kit.ts';
import { stepPlatform, type StepPlatform } from './step-kit.ts';

/** Each step that goes to the cluster, by itself: those of the installation twice, and the second time nothing changes. */
describe('a platform, step by step', () => {
  let cluster: TestCluster;
  let step: StepPlatform;
  let platform: Platform;

  beforeAll(async () => {
    cluster = await testCluster();
    const { client, clock } = cluster;
    // A password of digits is no number, and one like 1e5 neither.
    const apps = { gitea: { adminPassword: '0012345678' }, console: { cookieSecret: '1e5' } };
    step = await stepPlatform({ values: { ...initialValues, apps }, client, change: { clock } });
    platform = step.platform;
    await processValues(platform);
  });
  afterAll(async () => {
    await step[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const versionOf = async (kind: Kind, namespace: string | undefined, name: string): Promise<string> => {
    const found = await cluster.client.get(kind, namespace === undefined ? { name } : { namespace, name });
    return found!.metadata.resourceVersion!;
  };

  test("processValues(), createK8sSecret('deployment-passwords'): again, the same secrets, CA, keys, users and files", async () => {
    const version = await versionOf(Secret, 'otomi', 'deployment-passwords');
    const [files, secrets] = [await step.files(), await storedSecrets(cluster.client)];
    expect(secrets).toMatchObject({
      apps: { 'cert-manager': { customRootCAKey: expect.stringContaining('PRIVATE KEY') } },
      kms: { sops: { age: { privateKey: expect.stringMatching(/^AGE-SECRET-KEY-/) } } },
      users: [{ email: 'platform-admin@dev.example.com' }],
    });
    await processValues(platform);
    expect(await versionOf(Secret, 'otomi', 'deployment-passwords')).toBe(version);
    expect(await storedSecrets(cluster.client)).toEqual(secrets);
    expect(await step.files()).toEqual(files);
  });

  test('TRAP: secrets that look like numbers are read back as the texts they are', async () => {
    expect(await storedSecrets(cluster.client)).toMatchObject({
      apps: { gitea: { adminPassword: '0012345678' }, console: { cookieSecret: '1e5' } },
    });
  });

  test('deployEssential(): the namespaces everything lives in; again, nothing changes', async () => {
    await deployEssential(platform, { force: false });
    const version = await versionOf(Namespace, undefined, 'team-red');
    const team = await cluster.client.get(Namespace, { name: 'team-red' });
    expect(team?.metadata.labels).toMatchObject({ type: 'team' });
    await deployEssential(platform, { force: false });
    expect(await versionOf(Namespace, undefined, 'team-red')).toBe(version);
  });

  test('TRAP: an administrators’ team is there, and has no namespace', async () => {
    expect(await platform.layers.values('all')).toMatchObject({ teamConfig: { admin: {} } });
    expect(await cluster.client.get(Namespace, { name: 'team-admin' })).toBeUndefined();
  });

  test('TRAP: an installation takes no field from others and says what to do; the apply of teams takes it', async () => {
    const key = { name: 'team-red' };
    const relabel = async (type: string) =>
      await cluster.client.patch(Namespace, key, { type: 'merge', body: { metadata: { labels: { type } } } });
    const labels = async () => (await cluster.client.get(Namespace, key))?.metadata.labels;
    await relabel('theirs');
    const refused = await takingNothing(() => deployEssential(platform, { force: false })).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(ForeignFieldsError);
    expect((refused as Error).message).toMatch(/"test".*\.metadata\.labels\.type.*undo their change/s);
    expect(await labels()).toMatchObject({ type: 'theirs' });
    await relabel('team');
    await takingNothing(() => deployEssential(platform, { force: false }));
    await relabel('theirs');
    await applyTeams(platform);
    expect(await labels()).toMatchObject({ type: 'team' });
  });

  test('applyCrds(): defined and established; again, nothing changes', async () => {
    const key = { name: definitionName };
    let done = false;
    const applied = applyCrds(platform).finally(() => (done = true));
    await cluster.eventually('the definitions are established', () => done);
    await applied;
    expect(isConditionTrue(await cluster.client.get(CustomResourceDefinition, key), 'Established')).toBe(true);
    const version = await versionOf(CustomResourceDefinition, undefined, definitionName);
    await applyCrds(platform);
    expect(await versionOf(CustomResourceDefinition, undefined, definitionName)).toBe(version);
  });

  test.each([
    ['stage=prep', 'cert-manager', 'platform-ca'],
    ['app=core', 'console', 'console'],
  ])(
    "hf(label='%s', 'sync'): its releases are deployed; again, their objects do not change",
    async (label, namespace, name) => {
      const sync = async (): Promise<void> => {
        let done = false;
        const synced = platform.helmfile.sync({ selectors: [label] }).finally(() => (done = true));
        await cluster.eventually('the releases are deployed', () => done);
        await synced;
      };
      await sync();
      const version = await versionOf(ConfigMap, namespace, name);
      await sync();
      expect(await versionOf(ConfigMap, namespace, name)).toBe(version);
      const labelSelector = 'owner=helm,status=deployed';
      expect(await Array.fromAsync(cluster.client.list(Secret, { namespace, labelSelector }))).toHaveLength(1);
    },
  );

  test("initialSetupData(): 'platform-admin-credentials' and 'welcome'; again, nothing changes", async () => {
    await initialSetupData(platform);
    const versions = async () => [
      await versionOf(Secret, 'keycloak', 'platform-admin-credentials'),
      await versionOf(ConfigMap, 'apl-operator', 'welcome'),
    ];
    const before = await versions();
    await initialSetupData(platform);
    expect(await versions()).toEqual(before);
    const { username, password } = await readSecret(cluster.client, {
      namespace: 'keycloak',
      name: 'platform-admin-credentials',
    });
    const { users } = (await storedSecrets(cluster.client)) as { users: { email: string; initialPassword: string }[] };
    expect([username, password]).toEqual([users[0]!.email, users[0]!.initialPassword]);
  });

  test("setDeploymentState('deployed'): new fields over those that are there; again, nothing changes", async () => {
    const { client } = cluster;
    await setDeploymentState(client, { status: 'deploying', deployingTag: 'v2', deployingVersion: '2.0.0' });
    const all = { status: 'deployed', tag: 'v2', version: '2.0.0', deployingTag: 'v2', deployingVersion: '2.0.0' };
    await setDeploymentState(client, { status: 'deployed', tag: 'v2', version: '2.0.0' });
    expect(await deploymentState(client)).toEqual(all);
    const version = await versionOf(ConfigMap, 'otomi', 'deployment-status');
    await setDeploymentState(client, { status: 'deployed', tag: 'v2', version: '2.0.0' });
    expect(await versionOf(ConfigMap, 'otomi', 'deployment-status')).toBe(version);
  });

  test('TRAP: what others wrote into a record of ours survives the next write', async () => {
    const { client } = cluster;
    const place = { namespace: 'apl-operator', name: 'apl-installation-status' };
    await writeConfigMap(client, place, { status: 'failed', attempt: '1', error: 'no' });
    await client.patch(ConfigMap, place, { type: 'merge', body: { data: { installationMode: 'standard' } } });
    await writeConfigMap(client, place, { status: 'completed', attempt: '2' });
    expect(await readConfigMap(client, place)).toEqual({
      status: 'completed',
      attempt: '2',
      installationMode: 'standard',
    });
  });

  test("setEnvAndCreateSecrets(): 'gitea-credentials' and the SOPS key are kept; again, nothing changes, and what is kept wins", async () => {
    const expected = { username: 'otomi-admin', password: '0012345678' };
    expect(await setEnvAndCreateSecrets(platform)).toEqual(expected);
    expect(platform.keys.size).toBe(1);
    const versions = async () => [
      await versionOf(Secret, 'apl-operator', 'gitea-credentials'),
      await versionOf(Secret, 'apl-operator', 'apl-sops-secrets'),
    ];
    const before = await versions();
    expect(await setEnvAndCreateSecrets(platform)).toEqual(expected);
    expect(await versions()).toEqual(before);
    const stringData = { GIT_PASSWORD: 'changed-by-hand' };
    await cluster.client.patch(
      Secret,
      { namespace: 'apl-operator', name: 'gitea-credentials' },
      { type: 'merge', body: { stringData } },
    );
    expect(await setEnvAndCreateSecrets(platform)).toEqual({ ...expected, password: 'changed-by-hand' });
  });

  /** A working copy in which nothing changes, and what it was asked. */
  function stillCopy(notes: string[] = []): WorkingCopy {
    const still = {
      prepare: async () => undefined,
      revision: async () => 'a',
      fetchedRevision: async () => 'a',
      hasChanges: async () => {
        notes.push('changes?');
        return false;
      },
      git: async ([verb = '']: readonly string[]) => {
        notes.push(verb);
        return { stdout: '', exitCode: 0 };
      },
    };
    return still as unknown as WorkingCopy;
  }

  test('DEFECT: upgrades before an apply run when the state says what comes; version follows when all is applied', async () => {
    const { client } = cluster;
    await setDeploymentState(client, { status: 'deployed', tag: 'v0.9.0', version: '0.9.0' });
    const notes: string[] = [];
    const note = (text: string) => async () => {
      const { status, version, deployingVersion } = await deploymentState(client);
      notes.push(`${text}: ${status} ${version} to ${deployingVersion}`);
    };
    const helmfile: Helmfile = {
      ...platform.helmfile,
      template: async (selection) => {
        notes.push(`template ${selection.selectors?.join()}`);
        return await platform.helmfile.template(selection);
      },
      list: async (selection) => {
        notes.push('list');
        return await platform.helmfile.list(selection);
      },
    };
    const upgrades = [{ version: '1.0.0', pre: note('pre'), post: note('post') }];
    await apply({ ...platform, helmfile, upgrades }, stillCopy(notes));
    expect(notes).toEqual([
      'template upgrade=true',
      'pre: deploying 0.9.0 to 1.0.0',
      'template team=true',
      'list',
      'template upgrade=true',
      'post: deploying 0.9.0 to 1.0.0',
      // The commit, which finds nothing.
      'changes?',
    ]);
    expect(await deploymentState(client)).toMatchObject({ status: 'deployed', version: '1.0.0', tag: 'v1.0.0' });
  });

  test("runtimeUpgrade(pre): the platform's own file changes what its labels choose and removes what it names; again, nothing changes", async () => {
    const { client } = cluster;
    const root = { optional: async () => parse(ownUpgrades) as Tree } as unknown as PlatformRoot;
    const state = { version: '0.9.0', deployingVersion: '1.0.0' };
    const upgrade = async () => await runtimeUpgrade({ ...platform, root }, 'pre', state);
    const old = { namespace: 'console', name: 'old' };
    await upgrade();
    await client.create(newObject(ConfigMap, { metadata: { ...old } }));
    await upgrade();
    expect(await client.get(ConfigMap, old)).toBeUndefined();
    const before = await client.get(Namespace, { name: 'console' });
    expect(before?.metadata.labels).toMatchObject({ upgraded: 'yes' });
    await upgrade();
    expect(await client.get(Namespace, { name: 'console' })).toEqual(before);
  });

  test('an application that is refused is logged by its name, and keeps neither the others nor the apply', async () => {
    const bad = { name: 'Bad_Name', namespace: 'console', installed: true, chart: '../charts/console' };
    const list = async () => [bad, ...(await platform.helmfile.list())];
    const logged = step.logs.length;
    await applyAsApps({ ...platform, helmfile: { ...platform.helmfile, list } });
    expect(step.logs.slice(logged)).toContainEqual(
      expect.objectContaining({ level: 'error', fields: expect.objectContaining({ failed: ['console-Bad_Name'] }) }),
    );
    expect(await argoApplications(platform)).toContain('console-console');
  });

  test('the charts of applications are those of APPS_REVISION, else of otomi.version', async () => {
    const revisionWith = async (change: Partial<Platform>): Promise<unknown> => {
      await applyAsApps({ ...platform, ...change });
      const found = await cluster.client.get(Application, { namespace: 'argocd', name: 'console-console' });
      return valueAt(found?.spec, ['source', 'targetRevision']);
    };
    const layers = { values: async () => ({ otomi: { version: 'v7.0.0' } }) } as unknown as Platform['layers'];
    expect(await revisionWith({ layers })).toBe('v7.0.0');
    const settings = { ...platform.settings, appsRevision: 'main' };
    expect(await revisionWith({ layers, settings })).toBe('main');
  });

  test('TRAP: a release that is gone from the list keeps its application; one that is not to be installed loses it', async () => {
    const all = await platform.helmfile.list();
    const list = async () =>
      all
        .filter(({ name }) => name !== 'console')
        .map((release) => ({ ...release, installed: release.name !== 'trust' }));
    await applyAsApps({ ...platform, helmfile: { ...platform.helmfile, list } });
    const { client } = cluster;
    const trust = await client.get(Application, { namespace: 'argocd', name: 'cert-manager-trust' });
    expect(trust?.metadata.deletionTimestamp).toBeDefined();
    const kept = await client.get(Application, { namespace: 'argocd', name: 'console-console' });
    expect(kept?.metadata.deletionTimestamp).toBeUndefined();
  });

  test('TRAP: a new secret file is encrypted before anything is committed', async () => {
    const { identity, recipient } = await generateAgeKey();
    await using secret = await stepPlatform({
      client: cluster.client,
      change: { keys: new Set([identity]) },
      files: {
        '.sops.yaml': `creation_rules:\n    - path_regex: ^(.*/)?secrets.*.yaml(\\.dec)?$\n      age: ${recipient}\n`,
        'env/settings/cluster.yaml': 'kind: AplCluster\nspec: {name: dev}\n',
        'env/apps/secrets.gitea.yaml': 'kind: AplApp\nspec: {adminPassword: hush-hush}\n',
      },
    });
    const added: string[] = [];
    const copy = Object.assign(stillCopy(), {
      hasChanges: async () => true,
      git: async (args: readonly string[]) => {
        if (args[0] === 'add') added.push((await secret.files())['env/apps/secrets.gitea.yaml']!);
        return { stdout: '', exitCode: 0 };
      },
    });
    await commit(secret.platform, copy, false);
    expect(added).toEqual([expect.stringContaining('ENC[AES256_GCM')]);
    expect(added[0]).not.toContain('hush-hush');
  });
});

const ownUpgrades = `upgrades:
  - version: 1.0.0
    pre:
      - patch: { apiVersion: v1, kind: Namespace, labelSelector: name=console, body: { metadata: { labels: { upgraded: 'yes' } } } }
      - delete: { apiVersion: v1, kind: ConfigMap, namespace: console, name: old }
`;
