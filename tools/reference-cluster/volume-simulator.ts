import { follow, type FollowOptions } from './follow.ts';
import { ObjectSteps } from './object-steps.ts';

interface PersistentVolumeClaim {
  metadata: { name: string; namespace: string; uid: string; deletionTimestamp?: string };
  spec: {
    volumeName?: string;
    storageClassName?: string;
    volumeMode?: string;
    accessModes: string[];
    resources: { requests: Record<string, string> };
  };
}

interface PersistentVolume {
  metadata: { name: string; uid: string; labels?: Record<string, string>; deletionTimestamp?: string };
  status: { phase?: string };
}

const simulatedLabel = 'reference-cluster.slipway.dev/simulated';

/**
 * Stands in for a storage provisioner: every claim gets a volume made for it, which the controller manager then binds, and
 * which goes when its claim is gone. Nothing is stored.
 */
export async function simulateVolumes(options: FollowOptions): Promise<void> {
  const { admin, signal, log } = options;
  await using steps = new ObjectSteps(signal, log);

  const claims = follow<PersistentVolumeClaim>(
    '/api/v1/persistentvolumeclaims',
    (claim) => {
      if (claim.spec.volumeName || claim.metadata.deletionTimestamp) return;
      steps.run(claim.metadata.uid, async () => {
        await admin.call('POST', '/api/v1/persistentvolumes', { body: volumeFor(claim), signal });
      });
    },
    options,
  );
  const volumes = follow<PersistentVolume>(
    '/api/v1/persistentvolumes',
    ({ metadata, status }) => {
      if (!metadata.labels?.[simulatedLabel] || metadata.deletionTimestamp || status.phase !== 'Released') return;
      steps.run(metadata.uid, async () => {
        await admin.call('DELETE', `/api/v1/persistentvolumes/${metadata.name}`, { signal });
      });
    },
    options,
  );
  await Promise.all([claims, volumes]);
}

function volumeFor({ metadata, spec }: PersistentVolumeClaim): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pvc-${metadata.uid}`, labels: { [simulatedLabel]: 'true' } },
    spec: {
      capacity: { storage: spec.resources.requests['storage'] },
      accessModes: spec.accessModes,
      volumeMode: spec.volumeMode,
      storageClassName: spec.storageClassName ?? '',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...pick(metadata) },
      // Never `Delete`: the controller manager would remove this path from the machine it runs on.
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: `/nonexistent/${metadata.uid}` },
    },
  };
}

function pick({ name, namespace, uid }: PersistentVolumeClaim['metadata']): Record<string, string> {
  return { name, namespace, uid };
}
