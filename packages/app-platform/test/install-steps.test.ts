import { ConfigMap, CustomResourceDefinition, isConditionTrue, Namespace, Secret, type Kind } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { definitionName } from '../src/argo/application-definition.ts';
import { applyCrds } from '../src/install/apply-crds.ts';
import { ForeignFieldsError, takingNothing } from '../src/install/foreign-fields.ts';
import { initialSetupData } from '../src/install/initial-setup-data.ts';
import { processValues } from '../src/install/process-values.ts';
import { setEnvAndCreateSecrets } from '../src/install/set-env-and-create-secrets.ts';
import { applyTeams } from '../src/gitops/apply-teams.ts';
import { deployEssential } from '../src/platform/deploy-essential.ts';
import type { Platform } from '../src/platform/platform.ts';
import { storedSecrets } from '../src/secrets/stored-secrets.ts';
import { deploymentState, setDeploymentState } from '../src/state/deployment-state.ts';
import { readConfigMap, readSecret, writeConfigMap } from '../src/state/records.ts';
import { initialValues } from './platform-kit.ts';
import { stepPlatform, type StepPlatform } from './step-kit.ts';

/** Each step of the installation that goes to the cluster, by itself and twice: the second time nothing changes. */
describe('installation, step by step', () => {
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
});
