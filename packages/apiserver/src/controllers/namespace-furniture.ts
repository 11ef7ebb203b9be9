import { ApiError } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import type { ControllerContext, RunningController } from './controller.ts';
import type { Change } from './informer.ts';
import { WorkQueue } from './work-queue.ts';

const ROOT_CA_NAME = 'kube-root-ca.crt';
const ROOT_CA_DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal ' +
  'service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Keeps one object of a fixed name in every namespace that is not going away. */
function keepInEveryNamespace(
  context: ControllerContext,
  what: {
    readonly name: string;
    readonly plural: string;
    readonly objectName: string;
    build(namespace: string): ApiObject;
    /** The object to write back, or `undefined` when the present one is good. */
    repair(present: ApiObject): ApiObject | undefined;
  },
): RunningController {
  const { client, clock, informers, log } = context;
  const namespaces = informers.of('', 'v1', 'namespaces');
  const objects = informers.of('', 'v1', what.plural);

  const queue = new WorkQueue({
    name: what.name,
    clock,
    log,
    async process(namespace) {
      const home = namespaces.get(undefined, namespace);
      if (!home || home.metadata.deletionTimestamp !== undefined) {
        return;
      }
      const address = { group: '', version: 'v1', plural: what.plural, namespace };
      const present = objects.get(namespace, what.objectName);
      try {
        if (!present) {
          await client.create(address, what.build(namespace));
          return;
        }
        const repaired = what.repair(present);
        if (repaired) {
          await client.update({ ...address, name: what.objectName }, repaired);
        }
      } catch (error) {
        const settled =
          error instanceof ApiError &&
          (error.status.reason === 'AlreadyExists' || error.status.code === 404 || error.status.code === 403);
        if (!settled) {
          throw error;
        }
      }
    },
  });

  const unsubscribers = [
    namespaces.subscribe(({ object, deleted }) => {
      if (!deleted) {
        queue.add(object.metadata.name!);
      }
    }),
    objects.subscribe((change: Change) => {
      if (change.object.metadata.name === what.objectName) {
        queue.add(change.object.metadata.namespace!);
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

/** The ServiceAccount every namespace has. */
export function serviceAccountIn(namespace: string): ApiObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } };
}

/** The ConfigMap with which pods of a namespace trust the API server. */
export function rootCaIn(namespace: string, rootCa: string): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: ROOT_CA_NAME,
      namespace,
      annotations: { 'kubernetes.io/description': ROOT_CA_DESCRIPTION },
    },
    data: { 'ca.crt': rootCa },
  };
}

/** Keeps the ServiceAccount `default` of every namespace. */
export function startServiceAccountController(context: ControllerContext): RunningController {
  return keepInEveryNamespace(context, {
    name: 'service account controller',
    plural: 'serviceaccounts',
    objectName: 'default',
    build: serviceAccountIn,
    repair: () => undefined,
  });
}

/** Keeps the ConfigMap `kube-root-ca.crt` of every namespace. */
export function startRootCaPublisher(context: ControllerContext, rootCa: string): RunningController {
  return keepInEveryNamespace(context, {
    name: 'root CA publisher',
    plural: 'configmaps',
    objectName: ROOT_CA_NAME,
    build: (namespace) => rootCaIn(namespace, rootCa),
    repair(present) {
      const data = present['data'] as Record<string, string> | undefined;
      const isGood =
        data?.['ca.crt'] === rootCa &&
        Object.keys(data).length === 1 &&
        present.metadata.annotations?.['kubernetes.io/description'] === ROOT_CA_DESCRIPTION;
      if (isGood || present.metadata.deletionTimestamp !== undefined) {
        return undefined;
      }
      return {
        ...present,
        metadata: {
          ...present.metadata,
          annotations: { ...present.metadata.annotations, 'kubernetes.io/description': ROOT_CA_DESCRIPTION },
        },
        data: { 'ca.crt': rootCa },
      };
    },
  });
}
