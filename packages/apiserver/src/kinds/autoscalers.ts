import type { FieldError } from '../api-error.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { invalidValue, required } from './field-errors.ts';
import { asNumber, asObject, asObjects, asText, defaultTo, dig, ensureObject } from './json-access.ts';
import { withStatus } from './with-status.ts';

const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior';

function isCpuUtilization(metric: JsonObject): boolean {
  return (
    metric['type'] === 'Resource' &&
    dig(metric, 'resource', 'name') === 'cpu' &&
    dig(metric, 'resource', 'target', 'averageUtilization') != null
  );
}

/** v1 knows one metric; the others travel in an annotation. */
export function autoscalerToV1(object: ApiObject): ApiObject {
  const { metrics, behavior, ...spec } = asObject(object['spec']) ?? {};
  const { currentMetrics, conditions: _conditions, ...status } = asObject(object['status']) ?? {};
  const all = asObjects(metrics);
  const cpu = all.find(isCpuUtilization);
  const others = all.filter((metric) => metric !== cpu);
  const target = asNumber(dig(cpu, 'resource', 'target', 'averageUtilization'));
  const current = asObjects(currentMetrics).find(
    (metric) => metric['type'] === 'Resource' && dig(metric, 'resource', 'name') === 'cpu',
  );
  const utilization = asNumber(dig(current, 'resource', 'current', 'averageUtilization'));
  const annotations = {
    ...object.metadata.annotations,
    ...(others.length > 0 ? { [metricsAnnotation]: JSON.stringify(others) } : {}),
    ...(behavior == null ? {} : { [behaviorAnnotation]: JSON.stringify(behavior) }),
  };
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: { ...object.metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
    spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: {
      ...status,
      currentReplicas: asNumber(status['currentReplicas']) ?? 0,
      ...(utilization === undefined ? {} : { currentCPUUtilizationPercentage: utilization }),
    },
  };
}

export function autoscalerToV2(object: ApiObject): ApiObject {
  const { targetCPUUtilizationPercentage, ...spec } = asObject(object['spec']) ?? {};
  const { currentCPUUtilizationPercentage, ...status } = asObject(object['status']) ?? {};
  const {
    [metricsAnnotation]: metricsText,
    [behaviorAnnotation]: behaviorText,
    ...annotations
  } = object.metadata.annotations ?? {};
  const metrics: Json[] = [];
  if (targetCPUUtilizationPercentage != null) {
    metrics.push({
      type: 'Resource',
      resource: {
        name: 'cpu',
        target: { type: 'Utilization', averageUtilization: targetCPUUtilizationPercentage },
      },
    });
  }
  metrics.push(...asObjects(parsed(metricsText)));
  const behavior = asObject(parsed(behaviorText));
  const metadata = { ...object.metadata };
  if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
  else delete metadata.annotations;
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata,
    spec: { ...spec, ...(metrics.length > 0 ? { metrics } : {}), ...(behavior ? { behavior } : {}) },
    status: {
      ...status,
      currentMetrics:
        currentCPUUtilizationPercentage == null
          ? null
          : [
              {
                type: 'Resource',
                resource: {
                  name: 'cpu',
                  current: { averageUtilization: currentCPUUtilizationPercentage, averageValue: '0' },
                },
              },
            ],
    },
  };
}

function parsed(text: string | undefined): unknown {
  if (!text) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function defaultRules(behavior: JsonObject): void {
  const up = asObject(behavior['scaleUp']);
  const down = asObject(behavior['scaleDown']);
  const scaleUp = up ?? ensureObject(behavior, 'scaleUp');
  defaultTo(scaleUp, 'stabilizationWindowSeconds', 0);
  defaultTo(scaleUp, 'selectPolicy', 'Max');
  defaultTo(scaleUp, 'policies', [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ]);
  const scaleDown = down ?? ensureObject(behavior, 'scaleDown');
  defaultTo(scaleDown, 'selectPolicy', 'Max');
  defaultTo(scaleDown, 'policies', [{ type: 'Percent', value: 100, periodSeconds: 15 }]);
}

function applyDefaults(object: ApiObject): void {
  const spec = ensureObject(object as unknown as JsonObject, 'spec');
  defaultTo(spec, 'minReplicas', 1);
  if (object.apiVersion === 'autoscaling/v1') return;
  if (asObjects(spec['metrics']).length === 0) {
    spec['metrics'] = [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
    ];
  }
  const behavior = asObject(spec['behavior']);
  if (behavior) defaultRules(behavior);
}

function validate(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const errors: FieldError[] = [];
  const minimum = asNumber(spec['minReplicas']);
  const maximum = asNumber(spec['maxReplicas']) ?? 0;
  if (minimum !== undefined && minimum < 1) {
    errors.push(invalidValue('spec.minReplicas', minimum, 'must be greater than or equal to 1'));
  }
  if (maximum === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  if (maximum < 0) errors.push(invalidValue('spec.maxReplicas', maximum, 'must be greater than or equal to 1'));
  if (minimum !== undefined && maximum < minimum) {
    errors.push(invalidValue('spec.maxReplicas', maximum, 'must be greater than or equal to `minReplicas`'));
  }
  const target = asObject(spec['scaleTargetRef']) ?? {};
  for (const key of ['kind', 'name']) if (!asText(target[key])) errors.push(required(`spec.scaleTargetRef.${key}`));
  // Nothing of the core group but `v1` can be scaled.
  const apiVersion = asText(target['apiVersion']);
  if (!apiVersion.includes('/') && apiVersion !== 'v1') {
    errors.push(invalidValue('spec.scaleTargetRef.apiVersion', apiVersion, 'apiVersion must specify API group'));
  }
  return errors;
}

function metricText(metric: JsonObject, current: JsonObject | undefined): string {
  const source = asText(metric['type']).replace(/^./, (letter) => letter.toLowerCase());
  const target = asObject(dig(metric, source, 'target')) ?? {};
  const now = asObject(dig(current, source, 'current')) ?? {};
  const label =
    source === 'resource' || source === 'containerResource' ? `${asText(dig(metric, source, 'name'))}: ` : '';
  if (target['averageUtilization'] != null) {
    const value = now['averageUtilization'] == null ? '<unknown>' : `${String(now['averageUtilization'])}%`;
    return `${label}${value}/${String(target['averageUtilization'])}%`;
  }
  if (target['averageValue'] != null) {
    const suffix = source === 'external' ? ' (avg)' : '';
    return `${label}${asText(now['averageValue']) || '<unknown>'}/${asText(target['averageValue'])}${suffix}`;
  }
  return `${label}${asText(now['value']) || '<unknown>'}/${asText(target['value']) || '<auto>'}`;
}

function targetsText(object: ApiObject): string {
  const current = asObjects(dig(object, 'status', 'currentMetrics'));
  const texts = asObjects(dig(object, 'spec', 'metrics')).map((metric, index) => metricText(metric, current[index]));
  if (texts.length === 0) return '<none>';
  return texts.length > 2 ? `${texts.slice(0, 2).join(', ')} + ${texts.length - 2} more...` : texts.join(', ');
}

export const autoscalerStrategy: Strategy = withStatus({
  initialStatus: (object) =>
    object.apiVersion === 'autoscaling/v1'
      ? { currentReplicas: 0, desiredReplicas: 0 }
      : { desiredReplicas: 0, currentMetrics: null },
  applyDefaults,
  validate,
  validateUpdate: validate,
  cells: (object, now) => {
    const shown = object.apiVersion === 'autoscaling/v1' ? autoscalerToV2(object) : object;
    return [
      object.metadata.name ?? '',
      `${asText(dig(object, 'spec', 'scaleTargetRef', 'kind'))}/${asText(dig(object, 'spec', 'scaleTargetRef', 'name'))}`,
      targetsText(shown),
      String(dig(object, 'spec', 'minReplicas') ?? '<unset>'),
      asNumber(dig(object, 'spec', 'maxReplicas')) ?? 0,
      asNumber(dig(object, 'status', 'currentReplicas')) ?? 0,
      ageOf(object.metadata.creationTimestamp, now),
    ];
  },
});
