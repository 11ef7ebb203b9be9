import { ApiError } from '../api-error.ts';
import { kubeTime } from '../clock.ts';
import type { ApiObject } from '../object.ts';
import type { ControllerContext, RunningController } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

const FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';
const CRDS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
const RECHECK_MS = 1_000;

interface CrdSpec {
  group: string;
  names: { plural: string };
  versions: { name: string; served: boolean; storage: boolean }[];
}

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

/** Deletes all custom resources of a CRD that is being deleted, then lets the CRD go. Part of the API server itself, not of the controller manager. */
export function startCrdFinalizer(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const crds = informers.of(CRDS.group, CRDS.version, CRDS.plural);
  const watches = new Map<string, { close(): void }>();

  const queue = new WorkQueue({
    name: 'CRD finalizer',
    clock,
    log,
    async process(name) {
      const crd = await readOrUndefined(name);
      if (!crd || crd.metadata.deletionTimestamp === undefined || !crd.metadata.finalizers?.includes(FINALIZER)) {
        return;
      }
      const started = await setTerminating(crd, {
        status: 'True',
        reason: 'InstanceDeletionInProgress',
        message: 'CustomResource deletion is in progress',
      });
      const left = await deleteInstances(crd);
      if (left > 0) {
        follow(name, crd);
        return;
      }
      const finished = await setTerminating(started, {
        status: 'False',
        reason: 'InstanceDeletionCompleted',
        message: 'removed all instances',
      });
      await client.update(
        { ...CRDS, name },
        {
          ...finished,
          metadata: {
            ...finished.metadata,
            finalizers: finished.metadata.finalizers!.filter((finalizer) => finalizer !== FINALIZER),
          },
        },
      );
    },
  });

  async function readOrUndefined(name: string): Promise<ApiObject | undefined> {
    try {
      return await client.get({ ...CRDS, name });
    } catch (error) {
      if (error instanceof ApiError && error.status.code === 404) {
        return undefined;
      }
      throw error;
    }
  }

  function collectionOf(crd: ApiObject) {
    const spec = crd['spec'] as unknown as CrdSpec;
    const version = spec.versions.find((each) => each.served)?.name ?? spec.versions[0]!.name;
    return { group: spec.group, version, plural: spec.names.plural };
  }

  /** How many are left after deleting everything; those with finalizers stay for now. */
  async function deleteInstances(crd: ApiObject): Promise<number> {
    const collection = collectionOf(crd);
    try {
      const { items } = await client.list(collection);
      for (const { metadata } of items) {
        if (metadata.deletionTimestamp === undefined) {
          await client.delete({ ...collection, namespace: metadata.namespace, name: metadata.name! }).catch(ignoreGone);
        }
      }
      return items.length === 0 ? 0 : (await client.list(collection)).items.length;
    } catch (error) {
      // No served version, or never established: nothing can be left.
      if (error instanceof ApiError && error.status.code === 404) {
        return 0;
      }
      throw error;
    }
  }

  /** Comes back when instances go away. */
  function follow(name: string, crd: ApiObject): void {
    queue.addAfter(name, RECHECK_MS);
    if (watches.has(name)) {
      return;
    }
    const end = () => {
      watches.get(name)?.close();
      watches.delete(name);
    };
    void client.list(collectionOf(crd)).then(
      ({ resourceVersion }) => {
        if (watches.has(name)) {
          return;
        }
        const watch = client.watch(
          collectionOf(crd),
          { resourceVersion },
          {
            event(type) {
              if (type === 'DELETED') {
                queue.add(name);
              }
            },
            closed: end,
          },
        );
        watches.set(name, watch);
      },
      () => undefined,
    );
  }

  async function setTerminating(crd: ApiObject, next: Omit<Condition, 'type'>): Promise<ApiObject> {
    const status = (crd['status'] ?? {}) as { conditions?: Condition[] };
    const conditions = status.conditions ?? [];
    const old = conditions.find((condition) => condition.type === 'Terminating');
    if (old?.status === next.status && old.reason === next.reason) {
      return crd;
    }
    const condition: Condition = {
      type: 'Terminating',
      status: next.status,
      lastTransitionTime: old?.status === next.status ? old.lastTransitionTime : kubeTime(clock.now()),
      reason: next.reason,
      message: next.message,
    };
    return client.update(
      { ...CRDS, name: crd.metadata.name!, subresource: 'status' },
      {
        ...crd,
        status: { ...status, conditions: [...conditions.filter((each) => each.type !== 'Terminating'), condition] },
      },
    );
  }

  const unsubscribe = crds.subscribe(({ object, deleted }) => {
    const name = object.metadata.name!;
    if (deleted) {
      watches.get(name)?.close();
      watches.delete(name);
    } else if (object.metadata.deletionTimestamp !== undefined) {
      queue.add(name);
    }
  });

  return {
    stop() {
      unsubscribe();
      queue.stop();
      for (const watch of watches.values()) {
        watch.close();
      }
      watches.clear();
    },
  };
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof ApiError && error.status.code === 404)) {
    throw error;
  }
}
