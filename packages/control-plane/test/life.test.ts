import type { KubeObject } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { APIServer, Authentication, Authorization, Landscaper } from '../src/api/components.ts';
import { InternalConfiguration } from '../src/api/internal-configuration.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { componentKinds, type ComponentType, componentTypes, kindOf } from '../src/component/component-type.ts';
import { managedControlPlaneController } from '../src/managed-control-plane/controller.ts';
import { plainComponents } from './plain-components.ts';

const kinds = [ManagedControlPlane, InternalConfiguration, ...Object.values(componentKinds)];
const key = { namespace: 'default', name: 'demo' };

function mcp(spec: object): KubeObject {
  return { apiVersion: ManagedControlPlane.apiVersion, kind: 'ManagedControlPlane', metadata: { ...key }, spec };
}

const everything = {
  authentication: {},
  authorization: { roleBindings: [{ role: 'view', subjects: [{ kind: 'User', name: 'ann' }] }] },
  components: { apiServer: { type: 'Gardener' }, landscaper: {}, crossplane: { version: '1.20.0' } },
};

async function start(removed: ComponentType[] = []): Promise<TestCluster> {
  const cluster = await testCluster({ kinds });
  await cluster.run([managedControlPlaneController({ active: componentTypes }), ...plainComponents(removed)]);
  return cluster;
}

async function whenReady(cluster: TestCluster): Promise<ManagedControlPlane> {
  return await cluster.eventually('the control plane is ready', async () => {
    const found = await cluster.client.get(ManagedControlPlane, key);
    const current = found?.status?.observedGeneration === found?.metadata.generation;
    return current && found?.status?.status === 'Ready' ? found : undefined;
  });
}

test('a ManagedControlPlane fans out to its components and becomes Ready', async () => {
  await using cluster = await start();
  await cluster.client.create(mcp(everything));
  const ready = await whenReady(cluster);
  expect(ready.status?.conditions?.map(({ type, managedBy }) => `${managedBy}/${type}`)).toEqual([
    'APIServer/APIServerHealthy',
    'Authentication/AuthenticationHealthy',
    'Authorization/AuthorizationHealthy',
    'CloudOrchestrator/CloudOrchestratorHealthy',
    'Landscaper/LandscaperHealthy',
    '/MCPSuccessful',
  ]);
  const apiServer = await cluster.client.get(APIServer, key);
  expect(apiServer?.spec).toEqual({ type: 'Gardener', gardener: {} });
  expect(apiServer?.metadata.finalizers?.toSorted()).toEqual([
    'dependency.openmcp.cloud/authentication',
    'dependency.openmcp.cloud/authorization',
    'dependency.openmcp.cloud/cloudorchestrator',
    'dependency.openmcp.cloud/landscaper',
    'openmcp.cloud.apiserver',
  ]);
});

test('a control plane whose components were only just made is not Ready', async () => {
  await using cluster = await start();
  const seen: string[] = [];
  cluster.embedded?.observe(({ storageId, object }) => {
    const { status } = object as { status?: { status?: string } };
    if (storageId === 'managedcontrolplanes.core.openmcp.cloud' && status?.status) seen.push(status.status);
  });
  await cluster.client.create(mcp(everything));
  await whenReady(cluster);
  if (cluster.type === 'reference') return;
  expect(seen[0]).toBe('Not Ready');
  expect(seen.indexOf('Ready')).toBe(seen.length - 1);
});

test('deletion takes the components away in the order of their dependencies', async () => {
  const removed: ComponentType[] = [];
  await using cluster = await start(removed);
  await cluster.client.create(mcp(everything));
  await whenReady(cluster);
  await cluster.client.delete(ManagedControlPlane, key);
  await cluster.eventually('it is gone', async () => !(await cluster.client.get(ManagedControlPlane, key)));
  expect(new Set(removed.slice(0, 2))).toEqual(new Set(['Landscaper', 'CloudOrchestrator']));
  expect(new Set(removed.slice(2, 4))).toEqual(new Set(['Authentication', 'Authorization']));
  expect(removed.slice(4)).toEqual(['APIServer']);
});

test('deletion ends although a change before it had reached only some of the components', async () => {
  await using cluster = await testCluster({ kinds });
  const controllers = () => [managedControlPlaneController({ active: componentTypes }), ...plainComponents()];
  const { client } = cluster;
  const first = await cluster.run(controllers());
  await client.create(mcp(everything));
  await whenReady(cluster);
  // The operator dies in the middle of the next change, and its ManagedControlPlane is deleted before it comes back.
  await first.stop();
  const labels = { 'openmcp.cloud/mcp-generation': '2' };
  await client.patch(Authentication, key, { type: 'merge', body: { metadata: { labels } } });
  await client.delete(ManagedControlPlane, key);
  await cluster.run(controllers());
  await cluster.eventually('it is gone', async () => !(await client.get(ManagedControlPlane, key)));
});

test.each([
  ['the ManagedControlPlane is deleted', undefined],
  ['the component leaves the spec', { disabledComponents: null, components: { landscaper: null } }],
])('a component that is enabled again goes, although it had not heard of that before %s', async (_what, spec) => {
  await using cluster = await testCluster({ kinds });
  const controllers = () => [managedControlPlaneController({ active: componentTypes }), ...plainComponents()];
  const { client } = cluster;
  const change = (body: Record<string, unknown>) => client.patch(ManagedControlPlane, key, { type: 'merge', body });
  const first = await cluster.run(controllers());
  await client.create(mcp(everything));
  await whenReady(cluster);
  await change({ spec: { disabledComponents: ['Landscaper'] } });
  await cluster.eventually(
    'it is disabled',
    async () => (await client.get(Landscaper, key))?.metadata.annotations?.['openmcp.cloud/operation'] === 'ignore',
  );
  await first.stop();
  await change({ spec: spec ?? { disabledComponents: null } });
  if (!spec) await client.delete(ManagedControlPlane, key);
  await cluster.run(controllers());
  await cluster.eventually('it is gone', async () => !(await client.get(Landscaper, key)));
});

test('a component others need that is deleted by hand serves them on, and is made again when they are gone', async () => {
  await using cluster = await start();
  const { client } = cluster;
  const change = (spec: object) => client.patch(ManagedControlPlane, key, { type: 'merge', body: { spec } });
  await client.create(mcp(everything));
  await whenReady(cluster);
  const { uid } = (await client.get(Authorization, key))!.metadata;
  await client.delete(Authorization, key);

  // It waits for those who need it, and does its work for them: also what is new in its spec.
  await change({ authorization: { roleBindings: [] } });
  const waiting = await cluster.eventually('it says for whom it waits', async () => {
    const { status } = await whenReady(cluster);
    const { message = '' } = status?.conditions?.find(({ type }) => type === 'MCPSuccessful') ?? {};
    return message.includes('[cloudorchestrator, landscaper]') ? message : undefined;
  });
  expect(waiting).toMatch(/^Authorization: Deletion is waiting/);
  const going = (await client.get(Authorization, key))!;
  expect(going.metadata.uid).toBe(uid);
  expect(going.status?.observedGenerations?.resource).toBe(going.metadata.generation);

  await change({ components: { landscaper: null, crossplane: null } });
  await cluster.eventually('another is there', async () => {
    const found = await client.get(Authorization, key);
    return found !== undefined && found.metadata.uid !== uid;
  });
  await change({ components: { landscaper: {}, crossplane: { version: '1.20.0' } } });
  await whenReady(cluster);
});

test('a component does not begin with one that is being deleted, and says who keeps that', async () => {
  await using cluster = await start();
  const { client } = cluster;
  const change = (components: object) =>
    client.patch(ManagedControlPlane, key, { type: 'merge', body: { spec: { components } } });
  await client.create(mcp({ ...everything, components: { ...everything.components, landscaper: undefined } }));
  await whenReady(cluster);
  await client.delete(Authorization, key);
  await change({ landscaper: {} });
  const waiting = await cluster.eventually('it says what it waits for', async () => {
    const found = await client.get(Landscaper, key);
    return found?.status?.conditions?.find(({ reason }) => reason === 'WaitingForDependencies');
  });
  expect(waiting).toMatchObject({
    type: 'LandscaperHealthy',
    status: 'False',
    message:
      'Waiting for Authorization to be made again: it is being deleted, and [cloudorchestrator] need it. Take these out of the ManagedControlPlane for a while, or delete it.',
  });

  await change({ crossplane: null });
  await whenReady(cluster);
  expect((await client.get(Authorization, key))?.metadata.finalizers).toContain('dependency.openmcp.cloud/landscaper');
});

test('a component that leaves the spec goes, and the others stay', async () => {
  await using cluster = await start();
  await cluster.client.create(mcp(everything));
  await whenReady(cluster);
  const patch = { spec: { components: { landscaper: null } } };
  await cluster.client.patch(ManagedControlPlane, key, { type: 'merge', body: patch });
  await cluster.eventually('the Landscaper is gone', async () => !(await cluster.client.get(Landscaper, key)));
  await whenReady(cluster);
  expect(await cluster.client.get(Authentication, key)).toBeDefined();
});

test('a configuration that cannot be converted touches no component and says what is wrong', async () => {
  await using cluster = await start();
  const provider = { name: 'corp', issuerURL: 'https://issuer', clientID: 'id', usernameClaim: 'sub' };
  const wrong = { ...everything, authentication: { identityProviders: [provider, provider] } };
  await cluster.client.create(mcp(wrong));
  const found = await cluster.eventually('it says so', async () => {
    const present = await cluster.client.get(ManagedControlPlane, key);
    return present?.status?.message ? present : undefined;
  });
  expect(found.status?.status).toBe('Not Ready');
  expect(found.status?.message).toMatch(
    /invalid Authentication configuration: spec\.authentication\.identityProviders\[1\]\.name: Duplicate value: "corp"/,
  );
  expect(await cluster.client.get(APIServer, key)).toBeUndefined();
});

test('a disabled component is left alone until it is enabled again', async () => {
  await using cluster = await start();
  await cluster.client.create(mcp({ ...everything, disabledComponents: ['Landscaper'] }));
  const waiting = await cluster.eventually('the others are healthy', async () => {
    const found = await cluster.client.get(ManagedControlPlane, key);
    const healthy = found?.status?.conditions?.filter((condition) => condition.status === 'True') ?? [];
    return healthy.length >= 5 ? found : undefined;
  });
  expect(waiting.status?.conditions?.find(({ type }) => type === 'Landscaper')?.reason).toBe('NoConditions');
  expect((await cluster.client.get(Landscaper, key))?.metadata.finalizers).toBeUndefined();
  await cluster.client.patch(ManagedControlPlane, key, { type: 'merge', body: { spec: { disabledComponents: [] } } });
  await whenReady(cluster);
});

test('ignore, set by hand: nobody changes the component or removes the annotation, also not in a deletion', async () => {
  await using cluster = await start();
  const { client } = cluster;
  const ignore = (value: string | null) =>
    client.patch(Landscaper, key, {
      type: 'merge',
      body: { metadata: { annotations: { 'openmcp.cloud/operation': value } } },
    });
  const said = async () => {
    const { status } = (await client.get(ManagedControlPlane, key))!;
    return status?.conditions?.find(({ reason }) => reason === 'ComponentIgnored');
  };
  await client.create(mcp(everything));
  await whenReady(cluster);
  const { resourceVersion } = (await ignore('ignore')).metadata;
  const patch = { spec: { disabledComponents: ['Landscaper'], components: { landscaper: { deployers: ['helm'] } } } };
  await client.patch(ManagedControlPlane, key, { type: 'merge', body: patch });
  await client.patch(ManagedControlPlane, key, { type: 'merge', body: { spec: { disabledComponents: null } } });
  const condition = await cluster.eventually('the ManagedControlPlane says so', said);
  expect(condition).toMatchObject({ type: 'Landscaper', status: 'Unknown', managedBy: 'Landscaper' });

  await client.delete(ManagedControlPlane, key);
  const { status } = await cluster.eventually('the deletion waits for it, and says so', async () => {
    const found = await client.get(ManagedControlPlane, key);
    return found?.status?.status === 'Deleting' && (await client.get(kindOf('CloudOrchestrator'), key)) === undefined
      ? found
      : undefined;
  });
  expect(status?.conditions?.find(({ reason }) => reason === 'ComponentIgnored')?.message).toBe(
    'The Landscaper is annotated with openmcp.cloud/operation=ignore: it is neither changed nor deleted. Remove the annotation when that is to end.',
  );
  expect((await client.get(Landscaper, key))?.metadata.resourceVersion).toBe(resourceVersion);

  await ignore(null);
  await cluster.eventually('it is gone', async () => !(await client.get(ManagedControlPlane, key)));
});

test('two components that export one condition: the ManagedControlPlane says whose mistake it is, and the others go on', async () => {
  await using cluster = await testCluster({ kinds });
  const clash = () => Promise.resolve({ conditions: [{ type: 'Installed', status: 'True' as const }] });
  await cluster.run([
    managedControlPlaneController({ active: componentTypes }),
    ...plainComponents([], { Authentication: { apply: clash }, Landscaper: { apply: clash } }),
  ]);
  const { client } = cluster;
  const other = { ...key, name: 'other' };
  await client.create(mcp(everything));
  await client.create({
    ...mcp({ ...everything, components: { ...everything.components, landscaper: undefined } }),
    metadata: other,
  });
  const { status } = await cluster.eventually('it says so', async () => {
    const found = await client.get(ManagedControlPlane, key);
    return found?.status?.message?.includes('Installed') ? found : undefined;
  });
  const text =
    "internal error: component 'Landscaper' has condition 'Installed', but that condition is already managed by component 'Authentication'; the author of one of them has to rename it";
  expect(status).toMatchObject({ status: 'Not Ready', message: `reconcile error: ${text}` });
  await cluster.eventually('all that was said besides is told', async () => {
    const { conditions = [] } = (await client.get(ManagedControlPlane, key))!.status!;
    const well = conditions
      .filter((each) => each.status === 'True')
      .map(({ type, managedBy }) => `${managedBy}/${type}`);
    const sum = conditions.find(({ type }) => type === 'MCPSuccessful');
    return well.length === 6 && well.includes('Authentication/Installed') && sum?.message?.includes(text);
  });
  await cluster.eventually(
    'another control plane is ready',
    async () => (await client.get(ManagedControlPlane, other))?.status?.status === 'Ready',
  );
  // What went wrong in the status keeps nothing from being deleted.
  await client.delete(ManagedControlPlane, key);
  await cluster.eventually('it is gone', async () => !(await client.get(ManagedControlPlane, key)));
});
