import { type Client, ClusterRoleBinding, type KubeObject, Namespace } from '@slipway/kube';

import { ClusterAdmin } from '../src/api/cluster-admin.ts';
import { Landscaper } from '../src/api/components.ts';
import { InternalConfiguration } from '../src/api/internal-configuration.ts';
import { ManagedComponent } from '../src/api/managed-component.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { ReleaseChannel } from '../src/cloud-orchestrator/managed-components.ts';
import { names } from '../src/names.ts';
import { key, type Landscape, mcp } from './landscape.ts';

const named = ({ apiVersion, kind }: { apiVersion: string; kind: string }, spec: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { ...key },
  spec,
});

/** A life in which the operator does everything it can do on the onboarding cluster. */
export async function wholeLife(landscape: Landscape): Promise<void> {
  const { cluster, target } = landscape;
  const { client } = cluster;
  const change = async (body: Record<string, unknown>) =>
    await client.patch(ManagedControlPlane, key, { type: 'merge', body });

  // Something nobody offers any more.
  const { apiVersion, kind } = ManagedComponent;
  await client.create({ apiVersion, kind, metadata: { name: 'outdated' }, spec: {} } as KubeObject);

  // What the landscape knows of it, and where it belongs.
  await client.create(named(InternalConfiguration, { components: {} }));
  const labels = { [names.projectLabel]: 'blue', [names.workspaceLabel]: 'sea' };
  await client.patch(Namespace, { name: key.namespace }, { type: 'merge', body: { metadata: { labels } } });
  await client.create(mcp());
  await landscape.ready();
  await cluster.eventually(
    'what can be had is listed',
    async () => await client.get(ManagedComponent, { name: 'flux' }),
  );

  // Full rights for somebody.
  await client.create(named(ClusterAdmin, { subjects: [{ kind: 'User', name: 'eve' }] }));
  await cluster.eventually(
    'eve has them',
    async () => await target.get(ClusterRoleBinding, { name: 'openmcp:cluster-admin' }),
  );

  // Another version, another look, one component less, one of the second architecture.
  await change({ spec: { components: { flux: { version: '2.0.0' } } } });
  await landscape.ready();
  await change({ metadata: { annotations: { [names.operationAnnotation]: 'reconcile' } } });
  await cluster.eventually(
    'it was looked at',
    async () => !(await client.get(ManagedControlPlane, key))?.metadata.annotations?.[names.operationAnnotation],
  );
  await change({ spec: { components: { landscaper: null } } });
  await cluster.eventually('the Landscaper is gone', async () => !(await client.get(Landscaper, key)));
  await change({
    metadata: { labels: { [`landscaper.${names.architectureLabel}`]: 'v2' } },
    spec: { components: { landscaper: {} } },
  });
  await landscape.ready();

  await client.delete(ManagedControlPlane, key);
  await landscape.gone();
  await cluster.eventually('the ClusterAdmin is gone', async () => !(await client.get(ClusterAdmin, key)));
}

/** What has to be there for it: something that can be had. */
export async function furnish(core: Client): Promise<void> {
  const object = ({ apiVersion, kind }: { apiVersion: string; kind: string }, name: string) =>
    ({ apiVersion, kind, metadata: { name }, spec: {} }) as KubeObject;
  await core.create(object(ReleaseChannel, 'live'));
  const status = { components: [{ name: 'flux', versions: [{ version: '1.0.0' }] }] };
  await core.patch(ReleaseChannel, { name: 'live' }, { type: 'merge', body: { status } }, { subresource: 'status' });
}
