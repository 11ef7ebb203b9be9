import type { StoredObjects } from '../auth/stored-objects.ts';
import type { ApiObject } from '../object.ts';
import type { Admission } from './admission.ts';

interface ClassedSpec {
  storageClassName?: string;
  ingressClassName?: string;
}

/** The newest class marked as default; of equally old ones the first by name. */
function defaultClass(objects: StoredObjects, storageId: string, annotation: string): string | undefined {
  let chosen: ApiObject | undefined;
  for (const candidate of objects.scan(storageId)) {
    const isDefault = candidate.metadata.annotations?.[annotation] === 'true';
    const isNewer = !chosen || (candidate.metadata.creationTimestamp ?? '') > (chosen.metadata.creationTimestamp ?? '');
    if (isDefault && isNewer) {
      chosen = candidate;
    }
  }
  return chosen?.metadata.name;
}

/** Claims without a storage class and Ingresses without an Ingress class get the default one, if there is one. */
export function defaultClasses(objects: StoredObjects): Admission {
  return {
    mutate({ operation, resource, subresource, object }) {
      if (operation !== 'CREATE' || subresource !== '' || !object) {
        return;
      }
      const spec = object['spec'] as ClassedSpec | undefined;
      if (!spec) {
        return;
      }
      if (resource.group === '' && resource.plural === 'persistentvolumeclaims') {
        const old = object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'];
        if (spec.storageClassName === undefined && old === undefined) {
          const name = defaultClass(
            objects,
            'storageclasses.storage.k8s.io',
            'storageclass.kubernetes.io/is-default-class',
          );
          if (name) {
            spec.storageClassName = name;
          }
        }
      } else if (resource.group === 'networking.k8s.io' && resource.plural === 'ingresses') {
        const old = object.metadata.annotations?.['kubernetes.io/ingress.class'];
        if (spec.ingressClassName === undefined && old === undefined) {
          const name = defaultClass(
            objects,
            'ingressclasses.networking.k8s.io',
            'ingressclass.kubernetes.io/is-default-class',
          );
          if (name) {
            spec.ingressClassName = name;
          }
        }
      }
    },
    validate() {},
  };
}
