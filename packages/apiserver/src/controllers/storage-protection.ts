import { ApiError } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import type { ControllerContext, RunningController } from './controller.ts';
import { objectKey, splitKey } from './informer.ts';
import { WorkQueue } from './work-queue.ts';

const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';

interface PodVolumes {
  volumes?: { name: string; persistentVolumeClaim?: { claimName: string }; ephemeral?: object }[];
}

/** Lets deleted claims go when no pod uses them any more, and deleted volumes when no claim is bound to them. */
export function startStorageProtection(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const pods = informers.of('', 'v1', 'pods');
  const claims = informers.of('', 'v1', 'persistentvolumeclaims');
  const volumes = informers.of('', 'v1', 'persistentvolumes');

  const queue = new WorkQueue({
    name: 'storage protection',
    clock,
    log,
    async process(key) {
      await informers.synced();
      const { namespace, name } = splitKey(key);
      const isClaim = namespace !== undefined;
      const object = isClaim ? claims.get(namespace, name) : volumes.get(undefined, name);
      const finalizer = isClaim ? CLAIM_FINALIZER : VOLUME_FINALIZER;
      const isWaiting =
        object?.metadata.deletionTimestamp !== undefined && object.metadata.finalizers?.includes(finalizer);
      if (!object || !isWaiting || (isClaim ? isUsed(object) : isBound(object))) {
        return;
      }
      const finalizers = object.metadata.finalizers!.filter((each) => each !== finalizer);
      const plural = isClaim ? 'persistentvolumeclaims' : 'persistentvolumes';
      const { uid, resourceVersion } = object.metadata;
      try {
        await client.patch({ group: '', version: 'v1', plural, namespace, name }, 'merge', {
          metadata: { uid: uid!, resourceVersion: resourceVersion!, finalizers },
        });
      } catch (error) {
        if (!(error instanceof ApiError && error.status.code === 404)) {
          throw error;
        }
      }
    },
  });

  function isUsed(claim: ApiObject): boolean {
    for (const pod of pods.list(claim.metadata.namespace)) {
      if (claimsOf(pod).includes(claim.metadata.name!) && !isFinished(pod)) {
        return true;
      }
    }
    return false;
  }

  function isBound(volume: ApiObject): boolean {
    return (volume['status'] as { phase?: string } | undefined)?.phase === 'Bound';
  }

  const unsubscribers = [
    claims.subscribe(({ object, deleted }) => {
      if (!deleted && object.metadata.deletionTimestamp !== undefined) {
        queue.add(objectKey(object));
      }
    }),
    volumes.subscribe(({ object, deleted }) => {
      if (!deleted && object.metadata.deletionTimestamp !== undefined) {
        queue.add(objectKey(object));
      }
    }),
    pods.subscribe(({ object, deleted }) => {
      if (deleted || isFinished(object)) {
        for (const name of claimsOf(object)) {
          queue.add(`${object.metadata.namespace}/${name}`);
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

function isFinished(pod: ApiObject): boolean {
  const phase = (pod['status'] as { phase?: string } | undefined)?.phase;
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Names of the claims a pod mounts, also those made from its ephemeral volumes. */
function claimsOf(pod: ApiObject): string[] {
  const volumes = (pod['spec'] as PodVolumes | undefined)?.volumes ?? [];
  return volumes.flatMap((volume) => {
    if (volume.persistentVolumeClaim) {
      return [volume.persistentVolumeClaim.claimName];
    }
    return volume.ephemeral ? [`${pod.metadata.name}-${volume.name}`] : [];
  });
}
