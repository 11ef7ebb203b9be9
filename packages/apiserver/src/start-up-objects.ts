import { ApiError } from './api-error.ts';
import type { CollectionAddress, LocalClient } from './local-client.ts';
import type { ApiObject } from './object.ts';
import type { Registry } from './registry.ts';

interface StartUpObject {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly object: ApiObject;
}

const core = { group: '', version: 'v1' };

function namespace(name: string): StartUpObject {
  return { ...core, plural: 'namespaces', object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } };
}

function priorityClass(name: string, value: number, description: string): StartUpObject {
  return {
    group: 'scheduling.k8s.io',
    version: 'v1',
    plural: 'priorityclasses',
    object: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, description },
  };
}

/** What every API server puts into an empty cluster. */
export function startUpObjects(clientCa: string | undefined): StartUpObject[] {
  return [
    namespace('kube-system'),
    namespace('kube-public'),
    namespace('kube-node-lease'),
    namespace('default'),
    priorityClass('system-node-critical', 2_000_001_000, 'For pods without which a node does not work.'),
    priorityClass('system-cluster-critical', 2_000_000_000, 'For pods without which a cluster does not work.'),
    {
      ...core,
      plural: 'services',
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'kubernetes',
          namespace: 'default',
          labels: { component: 'apiserver', provider: 'kubernetes' },
        },
        spec: {
          type: 'ClusterIP',
          clusterIP: '10.96.0.1',
          ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 443 }],
        },
      },
    },
    {
      ...core,
      plural: 'configmaps',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
        data: clientCa ? { 'client-ca-file': clientCa } : {},
      },
    },
  ];
}

/** Creates the objects every cluster has, as far as they are missing. */
export async function createStartUpObjects(client: LocalClient, clientCa?: string): Promise<void> {
  for (const { object, ...resource } of startUpObjects(clientCa)) await createOne(client, resource, object);
}

/** Creates those objects that are not there yet. */
export async function createMissing(
  client: LocalClient,
  registry: Registry,
  objects: readonly ApiObject[],
): Promise<void> {
  for (const object of objects) {
    const [group, version] = splitVersion(object.apiVersion!);
    const resource = registry.byKind(group, version, object.kind!);
    if (!resource) throw new Error(`no resource for ${object.apiVersion} ${object.kind}`);
    await createOne(client, { group, version, plural: resource.plural }, object);
  }
}

function splitVersion(apiVersion: string): [string, string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

async function createOne(client: LocalClient, resource: CollectionAddress, object: ApiObject): Promise<void> {
  const { namespace, name } = object.metadata;
  const address = { ...resource, ...(namespace ? { namespace } : {}) };
  try {
    await client.get({ ...address, name: name! });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.code !== 404) throw error;
    await client.create(address, object);
  }
}
