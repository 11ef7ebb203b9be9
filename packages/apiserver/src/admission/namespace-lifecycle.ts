import { forbidden, notFound } from '../api-error.ts';
import type { StoredObjects } from '../auth/stored-objects.ts';
import type { Admission } from './admission.ts';
import { requestName } from './request-name.ts';

const PROTECTED = ['default', 'kube-system', 'kube-public'];
const NAMESPACE = { group: '', plural: 'namespaces', kind: 'Namespace' };

/** Nothing is created in a namespace that is missing or going away, and some namespaces never go. */
export function namespaceLifecycle(objects: StoredObjects): Admission {
  return {
    mutate(context) {
      const { resource, operation, namespace, subresource } = context;
      const isNamespace = resource.group === '' && resource.plural === 'namespaces';
      if (isNamespace) {
        if (operation === 'DELETE' && subresource === '' && PROTECTED.includes(context.name)) {
          throw forbidden(NAMESPACE, context.name, 'this namespace may not be deleted');
        }
        return;
      }
      const isReview = resource.group === 'authorization.k8s.io';
      if (!namespace || isReview || operation === 'DELETE' || operation === 'CONNECT') {
        return;
      }
      const home = objects.lookup('namespaces', undefined, namespace);
      if (!home) {
        throw notFound(NAMESPACE, namespace);
      }
      if (operation === 'CREATE' && subresource === '' && home.metadata.deletionTimestamp !== undefined) {
        const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
        throw forbidden(resource, requestName(context), why, [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ]);
      }
    },
    validate() {},
  };
}
