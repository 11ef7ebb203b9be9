import type { ApiObject, Json, JsonObject } from '../object.ts';
import { ageOf } from './ages.ts';
import { asNumber, asObject, asObjects, asText } from './json-access.ts';

/** The row `kubectl get pods` shows. */
export function podCells(object: ApiObject, now: number): Json[] {
  const spec = asObject(object['spec']) ?? {};
  const status = asObject(object['status']) ?? {};
  const containers = asObjects(spec['containers']);
  const restartable = asObjects(spec['initContainers']).filter((container) => container['restartPolicy'] === 'Always');
  const names = new Set(restartable.map((container) => container['name']));
  const summary = summarise(object, spec, status, names);
  const gates = asObjects(spec['readinessGates']);
  const met = gates.filter((gate) =>
    asObjects(status['conditions']).some(
      (condition) => condition['type'] === gate['conditionType'] && condition['status'] === 'True',
    ),
  ).length;
  const restarted = summary.restarts > 0 && summary.lastRestart ? ` (${ageOf(summary.lastRestart, now)} ago)` : '';
  return [
    object.metadata.name ?? '',
    `${summary.ready}/${containers.length + restartable.length}`,
    summary.reason,
    `${summary.restarts}${restarted}`,
    ageOf(object.metadata.creationTimestamp, now),
    asText(status['podIP']) || '<none>',
    asText(spec['nodeName']) || '<none>',
    asText(status['nominatedNodeName']) || '<none>',
    gates.length > 0 ? `${met}/${gates.length}` : '<none>',
  ];
}

interface Summary {
  reason: string;
  ready: number;
  restarts: number;
  lastRestart: string;
}

function summarise(
  object: ApiObject,
  spec: JsonObject,
  status: JsonObject,
  restartableInit: ReadonlySet<unknown>,
): Summary {
  const phase = asText(status['phase']);
  const conditions = asObjects(status['conditions']);
  const summary: Summary = { reason: asText(status['reason']) || phase, ready: 0, restarts: 0, lastRestart: '' };
  const scheduled = conditions.find((condition) => condition['type'] === 'PodScheduled');
  if (scheduled?.['reason'] === 'SchedulingGated') summary.reason = 'SchedulingGated';
  const initializing = summariseInit(summary, spec, status, restartableInit);
  if (!initializing || conditions.some((c) => c['type'] === 'Initialized' && c['status'] === 'True')) {
    summariseContainers(summary, status, conditions);
  }
  if (object.metadata.deletionTimestamp) {
    if (status['reason'] === 'NodeLost') summary.reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') summary.reason = 'Terminating';
  }
  return summary;
}

function summariseInit(
  summary: Summary,
  spec: JsonObject,
  status: JsonObject,
  restartable: ReadonlySet<unknown>,
): boolean {
  const total = asObjects(spec['initContainers']).length;
  for (const [index, container] of asObjects(status['initContainerStatuses']).entries()) {
    summary.restarts += asNumber(container['restartCount']) ?? 0;
    noteRestart(summary, container);
    const isRestartable = restartable.has(container['name']);
    if (isRestartable && container['started'] === true) {
      if (container['ready'] === true) summary.ready++;
      continue;
    }
    const state = asObject(container['state']) ?? {};
    const terminated = asObject(state['terminated']);
    const waiting = asObject(state['waiting']);
    if (terminated && terminated['exitCode'] === 0) continue;
    if (terminated) summary.reason = `Init:${terminationReason(terminated)}`;
    else if (asText(waiting?.['reason']) && waiting?.['reason'] !== 'PodInitializing') {
      summary.reason = `Init:${asText(waiting?.['reason'])}`;
    } else summary.reason = `Init:${index}/${total}`;
    return true;
  }
  return false;
}

function summariseContainers(summary: Summary, status: JsonObject, conditions: readonly JsonObject[]): void {
  let running = false;
  for (const container of asObjects(status['containerStatuses']).toReversed()) {
    summary.restarts += asNumber(container['restartCount']) ?? 0;
    noteRestart(summary, container);
    const state = asObject(container['state']) ?? {};
    const waiting = asObject(state['waiting']);
    const terminated = asObject(state['terminated']);
    if (asText(waiting?.['reason'])) summary.reason = asText(waiting!['reason']);
    else if (terminated) summary.reason = terminationReason(terminated);
    else if (container['ready'] === true && state['running']) {
      running = true;
      summary.ready++;
    }
  }
  if (summary.reason === 'Completed' && running) {
    const ready = conditions.some((condition) => condition['type'] === 'Ready' && condition['status'] === 'True');
    summary.reason = ready ? 'Running' : 'NotReady';
  }
}

function terminationReason(terminated: JsonObject): string {
  const reason = asText(terminated['reason']);
  if (reason) return reason;
  const signal = asNumber(terminated['signal']) ?? 0;
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${asNumber(terminated['exitCode']) ?? 0}`;
}

function noteRestart(summary: Summary, container: JsonObject): void {
  const finished = asText(asObject(asObject(container['lastState'])?.['terminated'])?.['finishedAt']);
  if (finished > summary.lastRestart) summary.lastRestart = finished;
}
