import { cloneJson } from '../clone-json.ts';
import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { forbiddenField, invalidValue, notSupported } from './field-errors.ts';
import { asList, asNumber, asObject, asObjects, asText, dig, ensureObject, sameValue } from './json-access.ts';
import { podCells } from './pod-cells.ts';
import { containersOf, defaultBarePod, defaultPodSpec } from './pod-spec-defaults.ts';
import { validatePodSpec } from './pod-spec-validation.ts';
import { parseQuantity } from '../quantity.ts';
import { restoreAllButStatus, withStatus } from './with-status.ts';

const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

function applyDefaults(object: ApiObject): void {
  const spec = ensureObject(object as unknown as JsonObject, 'spec');
  defaultPodSpec(spec);
  defaultBarePod(spec);
  const status = asObject(object['status']);
  if (!status) return;
  const address = asText(status['podIP']);
  if (address && asList(status['podIPs']).length === 0) status['podIPs'] = [{ ip: address }];
  else if (!address && asObjects(status['podIPs'])[0]) status['podIP'] = asObjects(status['podIPs'])[0]!['ip']!;
  // Go prints these two times even when they are unknown.
  for (const condition of asObjects(status['conditions'])) {
    condition['lastProbeTime'] ??= null;
    condition['lastTransitionTime'] ??= null;
  }
}

function nanosOf(quantity: unknown): bigint {
  return quantity == null ? 0n : parseQuantity(String(quantity)).nanos;
}

/** Guaranteed, Burstable or BestEffort, by the cpu and memory the containers ask for. */
export function qosClass(spec: JsonObject): string {
  const containers = [...asObjects(spec['initContainers']), ...asObjects(spec['containers'])];
  let anything = false;
  let guaranteed = true;
  for (const container of containers) {
    const resources = asObject(container['resources']) ?? {};
    const requests = asObject(resources['requests']) ?? {};
    const limits = asObject(resources['limits']) ?? {};
    for (const name of ['cpu', 'memory']) {
      const request = nanosOf(requests[name]);
      const limit = nanosOf(limits[name]);
      if (request > 0n || limit > 0n) anything = true;
      if (limit <= 0n || (requests[name] !== undefined && request !== limit)) guaranteed = false;
    }
  }
  if (!anything) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

const updateRule =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function updateErrors(object: ApiObject, previous: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const before = asObject(previous['spec']) ?? {};
  const errors: FieldError[] = [];
  for (const kind of ['containers', 'initContainers']) {
    const count = asObjects(spec[kind]).length;
    if (count !== asObjects(before[kind]).length) {
      return [forbiddenField(`spec.${kind}`, 'pod updates may not add or remove containers')];
    }
  }
  const oldDeadline = asNumber(before['activeDeadlineSeconds']);
  const deadline = asNumber(spec['activeDeadlineSeconds']);
  if (oldDeadline !== undefined && (deadline === undefined || deadline > oldDeadline)) {
    errors.push(
      deadline === undefined
        ? invalidValue('spec.activeDeadlineSeconds', null, 'must not update from a positive integer to nil value')
        : invalidValue('spec.activeDeadlineSeconds', deadline, 'must be less than or equal to previous value'),
    );
  }
  const tolerations = asObjects(spec['tolerations']);
  const onlyAdded = asObjects(before['tolerations']).every((old) => tolerations.some((now) => sameValue(now, old)));
  if (!onlyAdded) {
    errors.push(
      forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'),
    );
  }
  const settled = cloneJson(spec);
  settled['tolerations'] = before['tolerations'] ?? [];
  if (before['activeDeadlineSeconds'] === undefined) delete settled['activeDeadlineSeconds'];
  else settled['activeDeadlineSeconds'] = before['activeDeadlineSeconds'];
  const oldContainers = containersOf(before);
  for (const [index, container] of containersOf(settled).entries()) {
    const old = oldContainers[index];
    if (old?.['image'] !== undefined) container['image'] = old['image'];
  }
  if ((asNumber(before['terminationGracePeriodSeconds']) ?? 0) < 0 && settled['terminationGracePeriodSeconds'] === 1) {
    settled['terminationGracePeriodSeconds'] = before['terminationGracePeriodSeconds']!;
  }
  if (!sameValue(settled['schedulingGates'], before['schedulingGates'])) {
    const left = asObjects(spec['schedulingGates']);
    const fewer = left.every((gate) => asObjects(before['schedulingGates']).some((old) => sameValue(old, gate)));
    if (!fewer)
      errors.push(forbiddenField('spec.schedulingGates', 'only deletion is allowed, but found new scheduling gate'));
    settled['schedulingGates'] = before['schedulingGates'] ?? [];
  }
  if (!sameValue(settled, before)) errors.push(forbiddenField('spec', `${updateRule}\n${difference(settled, before)}`));
  return errors;
}

/** The fields that differ, one per line; the real server prints a diff of Go structures here. */
function difference(next: JsonObject, previous: JsonObject): string {
  const lines: string[] = [];
  for (const key of new Set([...Object.keys(previous), ...Object.keys(next)])) {
    if (sameValue(next[key], previous[key])) continue;
    lines.push(`- ${JSON.stringify(key)}: ${JSON.stringify(previous[key] ?? null)},`);
    lines.push(`+ ${JSON.stringify(key)}: ${JSON.stringify(next[key] ?? null)},`);
  }
  return `${lines.join('\n')}\n`;
}

export const podStrategy: Strategy = withStatus({
  deleteReturnsObject: true,
  hasGeneration: true,
  gracePeriodSeconds: (object) => {
    const phase = dig(object, 'status', 'phase');
    if (!dig(object, 'spec', 'nodeName') || phase === 'Failed' || phase === 'Succeeded') return 0;
    return Math.max(1, asNumber(dig(object, 'spec', 'terminationGracePeriodSeconds')) ?? 30);
  },
  initialStatus: (object) => ({ phase: 'Pending', qosClass: qosClass(asObject(object['spec']) ?? {}) }),
  applyDefaults,
  prepareForStatusUpdate: (object, previous) => {
    restoreAllButStatus(object, previous);
    const status = ensureObject(object as unknown as JsonObject, 'status');
    if (!status['qosClass']) status['qosClass'] = dig(previous, 'status', 'qosClass') as string;
  },
  validate: (object) => validatePodSpec(asObject(object['spec']) ?? {}, 'spec'),
  validateUpdate: updateErrors,
  validateStatusUpdate: (object) => {
    const phase = asText(dig(object, 'status', 'phase'));
    return phase && !phases.includes(phase) ? [notSupported('status.phase', phase, phases)] : [];
  },
  selectableFields: {
    'spec.nodeName': (object) => asText(dig(object, 'spec', 'nodeName')),
    'spec.restartPolicy': (object) => asText(dig(object, 'spec', 'restartPolicy')),
    'spec.schedulerName': (object) => asText(dig(object, 'spec', 'schedulerName')),
    'spec.serviceAccountName': (object) => asText(dig(object, 'spec', 'serviceAccountName')),
    'spec.hostNetwork': (object) => String(dig(object, 'spec', 'hostNetwork') === true),
    'status.phase': (object) => asText(dig(object, 'status', 'phase')),
    'status.podIP': (object) => asText(dig(object, 'status', 'podIP')),
    'status.podIPs': (object) =>
      asObjects(dig(object, 'status', 'podIPs'))
        .map((entry) => asText(entry['ip']))
        .join(','),
    'status.nominatedNodeName': (object) => asText(dig(object, 'status', 'nominatedNodeName')),
  },
  cells: podCells,
});
