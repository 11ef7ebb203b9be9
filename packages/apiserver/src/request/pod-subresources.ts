import { cloneJson } from '../clone-json.ts';
import { ApiError, conflict, notFound } from '../api-error.ts';
import { kubeTime } from '../clock.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import { matchesLabels } from '../label-selector.ts';
import { keyOf } from '../store/entry.ts';
import { success, type Answer } from './answer.ts';
import type { Core, ResourceRequest } from './core.ts';
import { decodeObject } from './decode-object.ts';
import { removeObject } from './delete.ts';
import { deleteOptions, writeOptions } from './options.ts';
import { change, matchIdentity } from './update.ts';
import { expectedKind } from './virtual.ts';

interface PodCondition {
  type: string;
  status: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string;
}

/** POST to `pods/x/binding`: what a scheduler does. */
export async function bindPod(core: Core, request: ResourceRequest): Promise<Answer> {
  const options = writeOptions(request, 'CreateOptions');
  const binding = decodeObject(request, options.fieldValidation, expectedKind(request));
  matchIdentity(binding, request);
  const target = (binding['target'] ?? {}) as { kind?: string; name?: string };
  await change(core, request, {
    options,
    uid: binding.metadata.uid,
    internal: true,
    next(live) {
      const next = cloneJson(live);
      const { resourceVersion } = binding.metadata;
      if (resourceVersion) next.metadata.resourceVersion = resourceVersion;
      const spec = next['spec'] as { nodeName?: string };
      if (live.metadata.deletionTimestamp) {
        throw conflict(bindings, request.name, `pod ${request.name} is being deleted, cannot be assigned to a host`);
      }
      if (spec.nodeName) {
        throw conflict(bindings, request.name, `pod ${request.name} is already assigned to node "${spec.nodeName}"`);
      }
      spec.nodeName = target.name ?? '';
      setScheduled(next, kubeTime(core.clock.now()));
      return next;
    },
  });
  return { kind: 'status', status: 201, body: success(201) };
}

const bindings = { group: '', plural: 'pods/binding', kind: 'Binding' };

function setScheduled(pod: ApiObject, now: string): void {
  const status = (pod['status'] ??= {}) as { conditions?: PodCondition[] };
  const scheduled: PodCondition = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
  };
  status.conditions = [...(status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled'), scheduled];
}

/** POST to `pods/x/eviction`: a deletion that asks the disruption budgets first. */
export async function evictPod(core: Core, request: ResourceRequest): Promise<Answer> {
  const write = writeOptions(request, 'CreateOptions');
  const eviction = decodeObject(request, write.fieldValidation, expectedKind(request));
  matchIdentity(eviction, request);
  const pod = core.store.get('pods', keyOf(request.namespace, request.name))?.object;
  if (!pod) throw notFound(request.resource, request.name);
  const phase = (pod['status'] as { phase?: string } | undefined)?.phase;
  const finished = phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending';
  if (!finished && !pod.metadata.deletionTimestamp) spendDisruption(core, request, pod, write.dryRun);
  const options = deleteOptions(
    { ...request, query: new URLSearchParams() },
    {
      ...((eviction['deleteOptions'] ?? {}) as JsonObject),
      ...(write.dryRun ? { dryRun: ['All'] } : {}),
    },
  );
  await removeObject(core, { ...request, subresource: '' }, options);
  return { kind: 'status', status: 201, body: success(201) };
}

const budgetStorage = 'poddisruptionbudgets.policy';

function spendDisruption(core: Core, request: ResourceRequest, pod: ApiObject, dryRun: boolean): void {
  const budgets = core.store.list(budgetStorage, request.namespace).filter(({ object }) => {
    const { selector } = (object['spec'] ?? {}) as { selector?: JsonObject };
    return selector !== undefined && matchesLabels(selector, pod.metadata.labels ?? {});
  });
  if (budgets.length === 0) return;
  if (budgets.length > 1) {
    throw new ApiError({
      code: 500,
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  }
  const [budget] = budgets;
  const status = (budget!.object['status'] ?? {}) as { disruptionsAllowed?: number; disruptedPods?: JsonObject };
  if (!status.disruptionsAllowed) throw tooManyDisruptions(budget!.object.metadata.name!);
  if (dryRun) return;
  core.store.put(budgetStorage, budget!.key, {
    ...budget!.object,
    status: {
      ...status,
      disruptionsAllowed: status.disruptionsAllowed - 1,
      disruptedPods: { ...status.disruptedPods, [request.name]: kubeTime(core.clock.now()) },
    },
  });
}

function tooManyDisruptions(budget: string): ApiError {
  return new ApiError({
    code: 429,
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [
        {
          reason: 'DisruptionBudget',
          message: `The disruption budget ${budget} does not allow evicting pods currently`,
        },
      ],
    },
  });
}
