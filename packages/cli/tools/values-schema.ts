import type { OperatorDescription, OperatorFlag } from '@slipway/runtime';

import { settingOptions, type OperatorOption } from '../src/operator-flags.ts';
import { runFlags } from '../src/run-flags.ts';
import { sourcesOf } from '../src/settings.ts';

const text = { type: 'string' };
const flag = { type: 'boolean' };
const map = { type: 'object', additionalProperties: { type: 'string' } };
const anyMap = { type: 'object' };
const objects = { type: 'array', items: { type: 'object' } };

function section(properties: Readonly<Record<string, unknown>>): object {
  return { type: 'object', additionalProperties: false, properties };
}

/** What `values.yaml` may hold, as JSON schema: Helm refuses a misspelt value before anything is applied. */
export function valuesSchema(operators: readonly OperatorDescription[]): object {
  const names = operators.map((operator) => operator.name);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the slipway chart',
    type: 'object',
    additionalProperties: false,
    properties: {
      global: anyMap,
      operators: {
        type: 'array',
        uniqueItems: true,
        items: { enum: names },
        description: 'Which operators run. Empty: all.',
      },
      config: {
        ...section(Object.fromEntries(settingOptions(operators, new Set(Object.keys(runFlags))).flatMap(configKeys))),
        description: 'Settings of the operators, by flag name.',
      },
      env: { ...objects, description: 'Further environment variables.' },
      image: section({
        repository: { ...text, minLength: 1 },
        tag: text,
        digest: { ...text, pattern: '^(sha256:[0-9a-f]{64})?$' },
        pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
      }),
      imagePullSecrets: objects,
      replicas: { type: 'integer', minimum: 0 },
      logLevel: { enum: ['debug', 'info', 'warn', 'error'] },
      crds: section({ install: flag, keep: flag }),
      rbac: section({ create: flag }),
      serviceAccount: section({
        create: flag,
        names: section(Object.fromEntries(names.map((name) => [name, text]))),
        annotations: map,
      }),
      podDisruptionBudget: section({ enabled: flag, maxUnavailable: { type: ['integer', 'string'] } }),
      networkPolicy: section({ enabled: flag, metricsFrom: objects, egress: objects }),
      metrics: section({
        requireToken: flag,
        service: section({ enabled: flag, port: { type: 'integer', minimum: 1, maximum: 65_535 } }),
        serviceMonitor: section({ enabled: flag, interval: text, labels: map }),
      }),
      resources: anyMap,
      podAnnotations: map,
      podLabels: map,
      nodeSelector: map,
      tolerations: objects,
      affinity: anyMap,
      priorityClassName: text,
    },
  };
}

function configKeys({ flag: operatorFlag, option }: OperatorOption<OperatorFlag>): [string, object][] {
  return sourcesOf(option).keys.map((key) => [key, flagSchema(operatorFlag)]);
}

function flagSchema(operatorFlag: OperatorFlag): object {
  const types = { string: 'string', duration: 'string', boolean: 'boolean', integer: 'integer' } as const;
  return { type: types[operatorFlag.type], description: operatorFlag.description };
}
