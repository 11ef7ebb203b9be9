import type { KubeObject } from '@slipway/kube';
import { onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import { apiServerComponent } from '../src/api-server/component.ts';
import { gardenerProvider } from '../src/api-server/providers/gardener/provider.ts';
import { type GardenerConfig, Shoot } from '../src/api-server/providers/gardener/shoot.ts';
import { ComponentError } from '../src/component/component-error.ts';
import { componentKinds } from '../src/component/component-type.ts';
import { componentController } from '../src/component/define-component.ts';
import { names } from '../src/names.ts';
import { apiServer, StandIn } from './hosted-kit.ts';

const config: GardenerConfig = {
  project: 'test',
  projectNamespace: 'garden-test',
  cloudProfile: 'gcp',
  providerType: 'gcp',
  defaultRegion: 'europe-west1',
  shootTemplate: { metadata: { labels: { team: 'platform' } }, spec: { networking: { type: 'calico' } } },
};

const leftOut = skipped(
  onReference,
  'on the real API server: shoots, which are looked at once a minute; that needs virtual time',
);

describe.skipIf(leftOut)('API servers from Gardener', () => {
  let cluster: TestCluster;
  let standIn: StandIn;
  /** What the garden says to whoever asks for an administrator's kubeconfig. */
  let issue: () => Promise<string> = async () => 'kubeconfig-of-the-shoot';

  beforeAll(async () => {
    [cluster, standIn] = await Promise.all([
      testCluster({
        kinds: [...Object.values(componentKinds), Shoot],
        objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: config.projectNamespace } }],
      }),
      StandIn.start(),
    ]);
    const provider = gardenerProvider({ config, adminKubeconfig: () => issue() });
    await cluster.run([componentController(apiServerComponent({ provider, connect: standIn.connect }))]);
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await standIn[Symbol.asyncDispose]();
  });

  const keyOf = (name: string) => ({ namespace: 'default', name });
  const inProject = (name: string) => ({ namespace: config.projectNamespace, name });

  async function shootOf(name: string): Promise<KubeObject> {
    return await cluster.eventually('there is a shoot', async () => {
      const labelSelector = { [names.mcpNameLabel]: name };
      const { items } = await cluster.client.listPage(Shoot, { namespace: config.projectNamespace, labelSelector });
      return items[0] as KubeObject | undefined;
    });
  }

  const condition = (name: string, type: string, holds: (text: string) => boolean) =>
    cluster.eventually(`${type} of ${name}`, async () => {
      const found = await cluster.client.get(APIServer, keyOf(name));
      return found?.status?.conditions?.find(
        (each) => each.type === type && holds(`${each.status} ${each.reason} ${each.message}`),
      );
    });

  /** Plays Gardener. */
  async function report({ metadata }: KubeObject, status: object): Promise<void> {
    const body = { status: { observedGeneration: metadata.generation, ...status } };
    await cluster.client.patch(Shoot, inProject(metadata.name!), { type: 'merge', body }, { subresource: 'status' });
  }

  const well = {
    conditions: [{ type: 'APIServerAvailable', status: 'True' }],
    advertisedAddresses: [
      { name: 'external', url: 'https://api.example' },
      { name: 'service-account-issuer', url: 'https://issuer.example' },
    ],
  };

  test('a control plane becomes a shoot, waits for it with its own words, and goes with it', async () => {
    await cluster.client.create(apiServer({ type: 'GardenerDedicated' }, keyOf('life')));
    const shoot = await shootOf('life');
    // The first 21 characters, less the project, of the hash.
    expect(shoot.metadata.name).toHaveLength(17);
    expect(shoot.metadata.labels).toMatchObject({ team: 'platform', [names.mcpNamespaceLabel]: 'default' });
    expect(shoot['spec']).toMatchObject({
      region: 'europe-west1',
      cloudProfile: { kind: 'CloudProfile', name: 'gcp' },
      networking: { type: 'calico' },
      extensions: [{ type: 'shoot-oidc-service' }],
    });
    await report(shoot, {
      conditions: [{ type: 'APIServerAvailable', status: 'False' }],
      lastOperation: { type: 'Create', state: 'Processing', description: 'waiting for machines' },
    });
    const waiting = await condition('life', 'APIServerHealthy', (text) => text.includes('waiting for machines'));
    expect(waiting).toMatchObject({ status: 'False', reason: 'WaitingForGardenerShoot' });
    expect(waiting.message).toBe(
      '[Create: Processing] waiting for machines\nThe following shoot conditions are not satisfied: APIServerAvailable',
    );
    await report(shoot, well);
    await condition('life', 'APIServerHealthy', (text) => text.startsWith('True'));
    const ready = await cluster.client.get(APIServer, keyOf('life'));
    expect(ready?.status).toMatchObject({
      endpoint: 'https://api.example',
      serviceAccountIssuer: 'https://issuer.example',
      gardener: { shoot: { kind: 'Shoot', metadata: { name: shoot.metadata.name } } },
    });
    expect(standIn.kubeconfigs).toContain('kubeconfig-of-the-shoot');

    const held = { metadata: { finalizers: ['gardener.cloud/held'] } };
    await cluster.client.patch(Shoot, inProject(shoot.metadata.name!), { type: 'merge', body: held });
    await cluster.client.delete(APIServer, keyOf('life'));
    await condition('life', 'APIServerHealthy', (text) => text.startsWith('False WaitingForGardenerShoot'));
    const going = await cluster.client.get(Shoot, inProject(shoot.metadata.name!));
    expect(going?.metadata.annotations).toMatchObject({ 'confirmation.gardener.cloud/deletion': 'true' });
    expect(going?.metadata.deletionTimestamp).toBeDefined();
    const released = { metadata: { finalizers: null } };
    await cluster.client.patch(Shoot, inProject(shoot.metadata.name!), { type: 'merge', body: released });
    await cluster.eventually(
      'it is gone',
      async () => (await cluster.client.get(APIServer, keyOf('life'))) === undefined,
    );
  });

  test('a garden that gives no kubeconfig shows in the condition, and the next try helps', async () => {
    issue = async () => {
      throw new ComponentError('APIServerAccessProvisioningNotPossible', 'the garden gave no kubeconfig of the shoot');
    };
    await cluster.client.create(apiServer({}, keyOf('refused')));
    await report(await shootOf('refused'), well);
    const said = await condition('refused', 'APIServerReconciliation', (text) => text.includes('gave no kubeconfig'));
    expect(said).toMatchObject({ status: 'False', reason: 'APIServerAccessProvisioningNotPossible' });
    issue = async () => 'kubeconfig-of-the-shoot';
    await condition('refused', 'APIServerHealthy', (text) => text.startsWith('True'));
  });

  const foreign = (name: string, labels: Record<string, string> = {}): KubeObject => ({
    apiVersion: Shoot.apiVersion,
    kind: Shoot.kind,
    metadata: { ...inProject(name), labels },
    spec: { purpose: 'testing' },
  });
  const backLabels = (name: string) => ({ [names.mcpNameLabel]: name, [names.mcpNamespaceLabel]: 'default' });

  test('of two shoots that claim to be the control plane neither is touched', async () => {
    for (const name of ['one', 'two']) await cluster.client.create(foreign(name, backLabels('twins')));
    await cluster.client.create(apiServer({}, keyOf('twins')));
    const said = await condition('twins', 'APIServerReconciliation', (text) =>
      text.includes('ShootIdentificationNotPossible'),
    );
    expect(said.message).toMatch(/there are 2 shoots for this control plane: one, two; remove all but one/);
    for (const name of ['one', 'two']) {
      expect((await cluster.client.get(Shoot, inProject(name)))?.spec).toEqual({ purpose: 'testing' });
    }
  });

  test("somebody else's shoot of the name is neither changed nor deleted", async () => {
    await cluster.client.create(apiServer({}, keyOf('taken')));
    const { metadata } = await shootOf('taken');
    await condition('taken', 'APIServerHealthy', (text) => text.includes('observed generation'));
    // It went, and another one has its name before we look again.
    await cluster.client.delete(Shoot, inProject(metadata.name!));
    await cluster.client.create(foreign(metadata.name!));
    const said = await condition('taken', 'APIServerReconciliation', (text) =>
      text.includes('belongs to somebody else'),
    );
    expect(said.reason).toBe('ShootIdentificationNotPossible');
    await cluster.client.delete(APIServer, keyOf('taken'));
    await cluster.eventually(
      'it is gone',
      async () => (await cluster.client.get(APIServer, keyOf('taken'))) === undefined,
    );
    expect((await cluster.client.get(Shoot, inProject(metadata.name!)))?.spec).toEqual({ purpose: 'testing' });
  });

  test('a shoot that the landscape names is taken over', async () => {
    await cluster.client.create(foreign('present'));
    const internal = { gardener: { shootOverwrite: inProject('present'), k8sVersionOverwrite: '1.34.1' } };
    await cluster.client.create(apiServer({ internal }, keyOf('adopting')));
    const shoot = await shootOf('adopting');
    expect(shoot.metadata.name).toBe('present');
    expect(shoot['spec']).toMatchObject({ purpose: 'testing', kubernetes: { version: '1.34.1' } });
  });
});
