import { ApiError } from '../../api-error.ts';
import type { ApiObject } from '../../object.ts';
import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';

const CLAIMS = { group: '', version: 'v1', plural: 'persistentvolumeclaims' };
const VOLUMES = { group: '', version: 'v1', plural: 'persistentvolumes' };
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';

interface Claim extends ApiObject {
  spec: {
    volumeName?: string;
    storageClassName?: string;
    accessModes?: string[];
    volumeMode?: string;
    resources?: { requests?: Record<string, string> };
  };
  status?: { phase?: string };
}

interface Volume extends ApiObject {
  spec: {
    claimRef?: { namespace?: string; name?: string; uid?: string };
    storageClassName?: string;
    accessModes?: string[];
    capacity?: Record<string, string>;
    persistentVolumeReclaimPolicy?: string;
  };
  status?: { phase?: string };
}

/** Gives every claim a volume at once: a free one made for it, or a new simulated one. */
export function startVolumeBinder(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const claims = informers.of('', 'v1', 'persistentvolumeclaims');
  const volumes = informers.of('', 'v1', 'persistentvolumes');
  const queue = new WorkQueue({ name: 'volume binder', clock, log, process });

  async function process(key: string): Promise<void> {
    await informers.synced();
    const { namespace, name } = splitKey(key);
    if (namespace === undefined) {
      await release(name);
      return;
    }
    const claim = claims.get(namespace, name) as Claim | undefined;
    if (!claim || claim.metadata.deletionTimestamp !== undefined || claim.status?.phase === 'Bound') {
      return;
    }
    const volume = existingFor(claim) ?? (await provision(claim));
    await bind(claim, volume);
  }

  function existingFor(claim: Claim): Volume | undefined {
    const all = [...(volumes.list() as Iterable<Volume>)].filter(
      (volume) => volume.metadata.deletionTimestamp === undefined,
    );
    const { namespace, name, uid } = claim.metadata;
    if (claim.spec.volumeName) {
      return all.find((volume) => volume.metadata.name === claim.spec.volumeName);
    }
    const isMine = ({ spec: { claimRef } }: Volume) =>
      claimRef?.namespace === namespace &&
      claimRef?.name === name &&
      (claimRef?.uid === undefined || claimRef.uid === '' || claimRef.uid === uid);
    const isFree = (volume: Volume) =>
      volume.spec.claimRef === undefined &&
      (volume.spec.storageClassName ?? '') === (claim.spec.storageClassName ?? '') &&
      (claim.spec.accessModes ?? []).every((mode) => volume.spec.accessModes?.includes(mode));
    return all.find(isMine) ?? all.find(isFree);
  }

  async function provision(claim: Claim): Promise<Volume> {
    const name = claim.spec.volumeName ?? `pvc-${claim.metadata.uid}`;
    const { namespace, name: claimName, uid, resourceVersion } = claim.metadata;
    try {
      return (await client.create(VOLUMES, {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name, annotations: { [PROVISIONED_BY]: 'sim.slipway.dev/volumes' } },
        spec: {
          accessModes: claim.spec.accessModes ?? ['ReadWriteOnce'],
          capacity: { storage: claim.spec.resources?.requests?.['storage'] ?? '1Gi' },
          claimRef: {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            namespace,
            name: claimName,
            uid,
            resourceVersion,
          },
          hostPath: { path: `/simulated/${name}`, type: '' },
          persistentVolumeReclaimPolicy: 'Delete',
          ...(claim.spec.storageClassName ? { storageClassName: claim.spec.storageClassName } : {}),
          volumeMode: claim.spec.volumeMode ?? 'Filesystem',
        },
      })) as Volume;
    } catch (error) {
      if (error instanceof ApiError && error.status.reason === 'AlreadyExists') {
        return (await client.get({ ...VOLUMES, name })) as Volume;
      }
      throw error;
    }
  }

  async function bind(claim: Claim, found: Volume): Promise<void> {
    const { namespace, name, uid } = claim.metadata;
    let volume = found;
    const at = { ...VOLUMES, name: volume.metadata.name! };
    if (volume.spec.claimRef?.uid !== uid) {
      const claimRef = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: namespace!,
        name: name!,
        uid: uid!,
      };
      volume = (await client.patch(at, 'merge', { spec: { claimRef } })) as Volume;
    }
    if (volume.status?.phase !== 'Bound') {
      await client.update(
        { ...at, subresource: 'status' },
        { ...volume, status: { ...volume.status, phase: 'Bound' } },
      );
    }
    const address = { ...CLAIMS, namespace, name: name! };
    let bound = claim;
    if (claim.spec.volumeName !== volume.metadata.name) {
      bound = (await client.patch(address, 'merge', {
        metadata: {
          annotations: { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' },
        },
        spec: { volumeName: volume.metadata.name! },
      })) as Claim;
    }
    const status = { phase: 'Bound', accessModes: volume.spec.accessModes, capacity: volume.spec.capacity };
    await client.update({ ...address, subresource: 'status' }, { ...bound, status: { ...bound.status, ...status } });
  }

  /** What becomes of a volume whose claim is gone. */
  async function release(name: string): Promise<void> {
    const volume = volumes.get(undefined, name) as Volume | undefined;
    const reference = volume?.spec.claimRef;
    if (!volume || !reference?.uid || volume.metadata.deletionTimestamp !== undefined) {
      if (volume && reference === undefined && volume.status?.phase !== 'Available') {
        await writePhase(volume, 'Available');
      }
      return;
    }
    const claim = claims.get(reference.namespace, reference.name!);
    if (claim?.metadata.uid === reference.uid) {
      return;
    }
    const released = volume.status?.phase === 'Released' ? volume : await writePhase(volume, 'Released');
    if (released.spec.persistentVolumeReclaimPolicy === 'Delete') {
      try {
        await client.delete({ ...VOLUMES, name }, { preconditions: { uid: volume.metadata.uid! } });
      } catch (error) {
        if (!(error instanceof ApiError && error.status.code === 404)) {
          throw error;
        }
      }
    }
  }

  async function writePhase(volume: Volume, phase: string): Promise<Volume> {
    const address = { ...VOLUMES, name: volume.metadata.name!, subresource: 'status' };
    return (await client.update(address, { ...volume, status: { ...volume.status, phase } })) as Volume;
  }

  const unsubscribers = [
    claims.subscribe(({ object, deleted }) => {
      if (!deleted) {
        queue.add(objectKey(object));
        return;
      }
      for (const volume of volumes.list() as Iterable<Volume>) {
        if (volume.spec.claimRef?.uid === object.metadata.uid) {
          queue.add(objectKey(volume));
        }
      }
    }),
    volumes.subscribe(({ object, deleted }) => {
      if (deleted) {
        return;
      }
      queue.add(objectKey(object));
      for (const claim of claims.list() as Iterable<Claim>) {
        if (claim.status?.phase !== 'Bound' && claim.spec.volumeName === object.metadata.name) {
          queue.add(objectKey(claim));
        }
      }
    }),
  ];
  return {
    stop() {
      unsubscribers.forEach((unsubscribe) => unsubscribe());
      queue.stop();
    },
  };
}
