import { ApiError } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import type { ControllerContext, RunningController } from './controller.ts';
import { objectKey, splitKey } from './informer.ts';
import { WorkQueue } from './work-queue.ts';

const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';
const CLASS_FINALIZER = 'kubernetes.io/vac-protection';
const CLASS_KEY = 'volumeattributesclass:';

interface PodVolumes {
  volumes?: { name: string; persistentVolumeClaim?: { claimName: string }; ephemeral?: object }[];
}

/**
 * Lets deleted claims go when no pod uses them any more, deleted volumes when no claim is bound to them, and deleted attributes
 * classes when neither names them.
 */
export function startStorageProtection(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const pods = informers.of('', 'v1', 'pods');
  const claims = informers.of('', 'v1', 'persistentvolumeclaims');
  const volumes = informers.of('', 'v1', 'persistentvolumes');
  const classes = informers.of('storage.k8s.io', 'v1', 'volumeattributesclasses');

  const queue = new WorkQueue({
    name: 'storage protection',
    clock,
    log,
    async process(key) {
      await informers.synced();
      const { object, finalizer, group, plural, isNeeded } = subjectOf(key);
      const isWaiting =
        object?.metadata.deletionTimestamp !== undefined && object.metadata.finalizers?.includes(finalizer);
      if (!object || !isWaiting || isNeeded(object)) {
        return;
      }
      const finalizers = object.metadata.finalizers!.filter((each) => each !== finalizer);
      const { namespace, name, uid, resourceVersion } = object.metadata;
      const address = { group, version: 'v1', plural, name: name!, ...(namespace ? { namespace } : {}) };
      try {
        await client.patch(address, 'merge', {
          metadata: { uid: uid!, resourceVersion: resourceVersion!, finalizers },
        });
      } catch (error) {
        if (!(error instanceof ApiError && error.status.code === 404)) {
          throw error;
        }
      }
    },
  });

  function subjectOf(key: string) {
    if (key.startsWith(CLASS_KEY)) {
      const object = classes.get(undefined, key.slice(CLASS_KEY.length));
      const plural = 'volumeattributesclasses';
      return { object, finalizer: CLASS_FINALIZER, group: 'storage.k8s.io', plural, isNeeded: isNamed };
    }
    const { namespace, name } = splitKey(key);
    return namespace === undefined
      ? {
          object: volumes.get(undefined, name),
          finalizer: VOLUME_FINALIZER,
          group: '',
          plural: 'persistentvolumes',
          isNeeded: isBound,
        }
      : {
          object: claims.get(namespace, name),
          finalizer: CLAIM_FINALIZER,
          group: '',
          plural: 'persistentvolumeclaims',
          isNeeded: isUsed,
        };
  }

  function isNamed({ metadata }: ApiObject): boolean {
    const names = ({ spec, status }: ApiObject) => [
      (spec as { volumeAttributesClassName?: string } | undefined)?.volumeAttributesClassName,
      (status as { currentVolumeAttributesClassName?: string } | undefined)?.currentVolumeAttributesClassName,
    ];
    return [...claims.list(), ...volumes.list()].some((user) => names(user).includes(metadata.name));
  }

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

  /** A claim or volume that changes may have been the last to name a class that is going. */
  function lookAtClasses(): void {
    for (const { metadata } of classes.list()) {
      if (metadata.deletionTimestamp !== undefined) queue.add(`${CLASS_KEY}${metadata.name}`);
    }
  }

  const unsubscribers = [
    classes.subscribe(lookAtClasses),
    claims.subscribe(lookAtClasses),
    volumes.subscribe(lookAtClasses),
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
