import {
  PersistentVolume,
  type PersistentVolumeClaim,
  Pod,
  type Client,
  type DeepReadonly,
  type Kind,
  type KubeObject,
} from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';

type Live = DeepReadonly<KubeObject>;

/** Makes a member healthy that has what it needs; `false` where it has to be tried again. */
export type MakeHealthy = (client: Client, kind: Kind, live: Live) => Promise<boolean>;

/** How members get healthy on a cluster without nodes. */
export function makeHealthyOn({ type }: TestCluster): MakeHealthy {
  return type === 'embedded' ? byStatus : byNode;
}

/** Where no controller looks after workloads: their status is written as controllers would. */
const byStatus: MakeHealthy = async (client, kind, live) => {
  const status = healthyStatus(kind.kind, live);
  if (status) await writeStatus(client, kind, live, status);
  return true;
};

/** Where the real controllers run and no node does: pods and volumes are played, and what follows is for the controllers to say. */
const byNode: MakeHealthy = async (client, kind, live) => {
  switch (kind.kind) {
    case 'Deployment':
      return await playPods(client, live, 'Running');
    case 'Job':
      return await playPods(client, live, 'Succeeded');
    case 'PersistentVolumeClaim':
      return await playVolume(client, live);
    default:
      return await byStatus(client, kind, live);
  }
};

async function playPods(client: Client, workload: Live, phase: 'Running' | 'Succeeded'): Promise<boolean> {
  const labelSelector = { app: workload.metadata.name! };
  const { items } = await client.listPage(Pod, { namespace: 'default', labelSelector });
  const conditions = [isTrue('Ready', workload)];
  for (const pod of items)
    await writeStatus(client, Pod, pod, { phase, ...(phase === 'Running' ? { conditions } : {}) });
  return items.length > 0;
}

async function playVolume(client: Client, live: Live): Promise<boolean> {
  const { metadata, spec, status } = live as DeepReadonly<PersistentVolumeClaim>;
  const { namespace, name, uid } = metadata;
  const volume = { name: `volume-of-${name}` };
  if (!(await client.get(PersistentVolume, volume)))
    await client.create({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: volume,
      spec: {
        storageClassName: spec?.storageClassName,
        accessModes: spec?.accessModes,
        capacity: spec?.resources?.requests,
        claimRef: { namespace, name, uid },
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path: '/nonexistent' },
      },
    });
  return status?.phase === 'Bound';
}

function healthyStatus(kind: string, live: Live): Record<string, unknown> | undefined {
  const observedGeneration = live.metadata.generation;
  const now = live.metadata.creationTimestamp;
  switch (kind) {
    case 'Deployment':
      return {
        observedGeneration,
        replicas: 1,
        updatedReplicas: 1,
        readyReplicas: 1,
        availableReplicas: 1,
        conditions: [isTrue('Available', live)],
      };
    case 'Job':
      return {
        startTime: now,
        completionTime: now,
        succeeded: 1,
        conditions: [isTrue('SuccessCriteriaMet', live), isTrue('Complete', live)],
      };
    case 'PersistentVolumeClaim':
      return { phase: 'Bound' };
    default:
      return live.apiVersion.includes('.example.com/') ? { conditions: [isTrue('Ready', live)] } : undefined;
  }
}

function isTrue(type: string, { metadata }: Live): Record<string, unknown> {
  return { type, status: 'True', reason: 'Told', message: '', lastTransitionTime: metadata.creationTimestamp };
}

async function writeStatus(client: Client, kind: Kind, { metadata }: Live, status: object): Promise<void> {
  const key = { namespace: 'default', name: metadata.name! };
  await client.patch(kind, key, { type: 'merge', body: { status } }, { subresource: 'status' });
}
