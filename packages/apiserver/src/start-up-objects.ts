import { ApiError } from './api-error.ts';
import type { LocalClient } from './local-client.ts';
import type { ApiObject } from './object.ts';

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
function startUpObjects(clientCa: string | undefined): StartUpObject[] {
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
          clusterIP: '10.0.0.1',
          ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 443 }],
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

/** Creates what is missing. */
export async function createStartUpObjects(client: LocalClient, clientCa?: string): Promise<void> {
  for (const { object, ...resource } of startUpObjects(clientCa)) {
    const { namespace: inside } = object.metadata;
    try {
      await client.create({ ...resource, ...(inside ? { namespace: inside } : {}) }, object);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status.code !== 409) throw error;
    }
  }
}
