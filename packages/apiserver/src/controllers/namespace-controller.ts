import { ApiError } from '../api-error.ts';
import { kubeTime } from '../clock.ts';
import type { ServedResource } from '../local-client.ts';
import type { ApiObject } from '../object.ts';
import type { ControllerContext, RunningController } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

export interface NamespaceControllerOptions {
  /** Milliseconds to wait before the content of a deleted namespace is removed. Default 0; the real controller waits 5000. */
  readonly namespaceDeletionDelayMs?: number;
}

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason: string;
  message: string;
}

interface Remains {
  /** `configmaps.` or `deployments.apps` → how many are left. */
  readonly counts: Map<string, number>;
  readonly finalizers: Map<string, number>;
  /** What could not be deleted, and why. */
  readonly failures: string[];
}

const FINALIZER = 'kubernetes';

/** Empties namespaces that are being deleted, says in their conditions what is left, and lets them go when nothing is. */
export function startNamespaceController(
  context: ControllerContext,
  options: NamespaceControllerOptions = {},
): RunningController {
  const { client, clock, informers } = context;
  const namespaces = informers.of('', 'v1', 'namespaces');
  const delayMs = options.namespaceDeletionDelayMs ?? 0;

  const queue = new WorkQueue({ name: 'namespace controller', clock, log: context.log, process });

  const unsubscribeNamespaces = namespaces.subscribe(({ object, deleted }) => {
    if (!deleted && object.metadata.deletionTimestamp !== undefined) {
      if (delayMs > 0) {
        queue.addAfter(object.metadata.name!, delayMs);
      } else {
        queue.add(object.metadata.name!);
      }
    }
  });
  // The last object of a terminating namespace may go long after the content was deleted: its finalizer decides when.
  const unsubscribeAll = informers.subscribeToAll((resource, { object, deleted }) => {
    const namespace = resource.namespaced ? object.metadata.namespace : undefined;
    if (namespace && (deleted || object.metadata.deletionTimestamp !== undefined)) {
      if (namespaces.get(undefined, namespace)?.metadata.deletionTimestamp !== undefined && delayMs === 0) {
        queue.add(namespace);
      } else if (namespaces.get(undefined, namespace)?.metadata.deletionTimestamp !== undefined) {
        queue.addAfter(namespace, delayMs);
      }
    }
  });

  async function process(name: string): Promise<void> {
    await informers.synced();
    const namespace = await read(name);
    if (!namespace || namespace.metadata.deletionTimestamp === undefined) {
      return;
    }
    const remains = await deleteContent(name);
    const updated = await writeConditions(namespace, remains);
    if (remains.counts.size > 0 || remains.failures.length > 0) {
      if (remains.failures.length > 0) {
        throw new Error(remains.failures.join('; '));
      }
      return;
    }
    await finalize(updated);
  }

  async function read(name: string): Promise<ApiObject | undefined> {
    try {
      return await client.get({ group: '', version: 'v1', plural: 'namespaces', name });
    } catch (error) {
      if (error instanceof ApiError && error.status.code === 404) {
        return undefined;
      }
      throw error;
    }
  }

  function deletableResources(): ServedResource[] {
    const byStorage = new Map<string, ServedResource>();
    for (const resource of client.resources()) {
      const deletable = resource.namespaced && resource.verbs.includes('list') && resource.verbs.includes('delete');
      if (deletable && !byStorage.has(resource.storageId)) {
        byStorage.set(resource.storageId, resource);
      }
    }
    // Pods first, so that what owns them does not report their end, then the rest as served.
    return [...byStorage.values()].sort((a, b) => Number(b.storageId === 'pods') - Number(a.storageId === 'pods'));
  }

  async function deleteContent(namespace: string): Promise<Remains> {
    const remains: Remains = { counts: new Map(), finalizers: new Map(), failures: [] };
    for (const resource of deletableResources()) {
      const { group, version, plural } = resource;
      const collection = { group, version, plural, namespace };
      try {
        const { items } = await client.list(collection);
        for (const item of items) {
          if (item.metadata.deletionTimestamp === undefined) {
            await deleteOne({ ...collection, name: item.metadata.name! }, item.metadata.uid!);
          }
        }
        if (items.length > 0) {
          const left = await client.list(collection);
          count(remains, resource, left.items);
        }
      } catch (error) {
        remains.failures.push(`${plural}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return remains;
  }

  async function deleteOne(address: Parameters<typeof client.delete>[0], uid: string): Promise<void> {
    try {
      await client.delete(address, { propagationPolicy: 'Background', preconditions: { uid } });
    } catch (error) {
      const gone = error instanceof ApiError && (error.status.code === 404 || error.status.code === 409);
      if (!gone) {
        throw error;
      }
    }
  }

  function count(remains: Remains, resource: ServedResource, items: readonly ApiObject[]): void {
    if (items.length === 0) {
      return;
    }
    remains.counts.set(`${resource.plural}.${resource.group}`, items.length);
    for (const item of items) {
      for (const finalizer of item.metadata.finalizers ?? []) {
        remains.finalizers.set(finalizer, (remains.finalizers.get(finalizer) ?? 0) + 1);
      }
    }
  }

  async function writeConditions(namespace: ApiObject, remains: Remains): Promise<ApiObject> {
    const status = (namespace['status'] ?? {}) as { phase?: string; conditions?: Condition[] };
    const before = status.conditions ?? [];
    const conditions = conditionsFor(remains).map((condition) => {
      const old = before.find((each) => each.type === condition.type);
      const sameStatus = old?.status === condition.status;
      return {
        type: condition.type,
        status: condition.status,
        lastTransitionTime: sameStatus ? old.lastTransitionTime : kubeTime(clock.now()),
        reason: condition.reason,
        message: condition.message,
      };
    });
    if (JSON.stringify(before) === JSON.stringify(conditions)) {
      return namespace;
    }
    return client.update(
      { group: '', version: 'v1', plural: 'namespaces', name: namespace.metadata.name!, subresource: 'status' },
      { ...namespace, status: { ...status, conditions } },
    );
  }

  async function finalize(namespace: ApiObject): Promise<void> {
    const spec = (namespace['spec'] ?? {}) as { finalizers?: string[] };
    if (!spec.finalizers?.includes(FINALIZER)) {
      return;
    }
    const finalizers = spec.finalizers.filter((each) => each !== FINALIZER);
    try {
      await client.update(
        { group: '', version: 'v1', plural: 'namespaces', name: namespace.metadata.name!, subresource: 'finalize' },
        { ...namespace, spec: { ...spec, finalizers } },
      );
    } catch (error) {
      if (!(error instanceof ApiError && error.status.code === 404)) {
        throw error;
      }
    }
  }

  return {
    stop() {
      unsubscribeNamespaces();
      unsubscribeAll();
      queue.stop();
    },
  };
}

function conditionsFor(remains: Remains): Condition[] {
  const conditions: Condition[] = [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      status: 'False',
      reason: 'ResourcesDiscovered',
      message: 'All resources successfully discovered',
    },
    {
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      status: 'False',
      reason: 'ParsedGroupVersions',
      message: 'All legacy kube types successfully parsed',
    },
  ];
  conditions.push(
    remains.failures.length > 0
      ? {
          type: 'NamespaceDeletionContentFailure',
          status: 'True',
          reason: 'ContentDeletionFailed',
          message: `Failed to delete all resource types, ${remains.failures.length} remaining: ${remains.failures.join(', ')}`,
        }
      : {
          type: 'NamespaceDeletionContentFailure',
          status: 'False',
          reason: 'ContentDeleted',
          message: 'All content successfully deleted, may be waiting on finalization',
        },
  );
  const resources = [...remains.counts].map(([name, count]) => `${name} has ${count} resource instances`).sort();
  conditions.push(
    resources.length > 0
      ? {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: `Some resources are remaining: ${resources.join(', ')}`,
        }
      : {
          type: 'NamespaceContentRemaining',
          status: 'False',
          reason: 'ContentRemoved',
          message: 'All content successfully removed',
        },
  );
  const finalizers = [...remains.finalizers].map(([name, count]) => `${name} in ${count} resource instances`).sort();
  conditions.push(
    finalizers.length > 0
      ? {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}`,
        }
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'False',
          reason: 'ContentHasNoFinalizers',
          message: 'All content-preserving finalizers finished',
        },
  );
  return conditions;
}
