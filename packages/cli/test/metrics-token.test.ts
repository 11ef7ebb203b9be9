import { resolve } from 'node:path';
import type { KubeObject, PolicyRule } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { metricsAccessRules } from '@slipway/runtime';
import { describe, expect, test } from 'vitest';

import { call } from './kit.ts';

const chart = resolve(import.meta.dirname, '..', '..', '..', 'deploy', 'chart');

async function rendered(...values: string[]): Promise<KubeObject[]> {
  const argv = ['chart', 'template', 'slipway', chart, '--set', 'operators={operand}', ...values];
  const { code, out, err } = await call(argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return parseManifests(out);
}

async function printed(...flags: string[]): Promise<KubeObject[]> {
  return parseManifests((await call(['install', 'operand', '--print', ...flags])).out);
}

/** The rules of the manager's own ClusterRole. */
function managerRules(objects: readonly KubeObject[]): readonly PolicyRule[] {
  const role = objects.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'slipway-operand-manager',
  );
  return role!['rules'] as PolicyRule[];
}

function textOf(objects: readonly KubeObject[], kind: string): string {
  return JSON.stringify(objects.filter((object) => object.kind === kind));
}

describe('metrics that ask for a token', () => {
  test('in the chart: the pods get the flag, the manager may ask whose a token is, readers get a role', async () => {
    const objects = await rendered('--set', 'metrics.requireToken=true,metrics.serviceMonitor.enabled=true');
    expect(textOf(objects, 'Deployment')).toContain('"--metrics-require-token"');
    expect(managerRules(objects)).toEqual(expect.arrayContaining([...metricsAccessRules]));
    expect(objects.find(({ metadata }) => metadata.name === 'slipway-metrics-reader')).toMatchObject({
      kind: 'ClusterRole',
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    });
    expect(textOf(objects, 'ServiceMonitor')).toContain('"bearerTokenFile"');
  });

  test('unless asked for, nobody gets a right for it', async () => {
    const objects = [...(await rendered()), ...(await printed())];
    expect(JSON.stringify(objects)).not.toMatch(/require-token|tokenreviews|metrics-reader|bearerTokenFile/);
  });

  test('slipway install grants the right with the setting', async () => {
    const objects = await printed('--set', 'metrics-require-token=true');
    expect(textOf(objects, 'ConfigMap')).toContain('metrics-require-token');
    expect(managerRules(objects)).toEqual(expect.arrayContaining([...metricsAccessRules]));
  });
});

describe('the network policy names who may come in', () => {
  const ingressOf = (objects: readonly KubeObject[]) =>
    (objects.find(({ kind }) => kind === 'NetworkPolicy')!['spec'] as { ingress: unknown }).ingress;
  const monitoring = {
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    ports: [{ port: 'metrics', protocol: 'TCP' }],
  };

  test('monitoring, on the port of the metrics, and nobody else', async () => {
    expect(ingressOf(await rendered())).toEqual([monitoring]);
    expect(ingressOf(await printed())).toEqual([monitoring]);
  });

  test('or whom the values of the chart name, or nobody', async () => {
    const from = 'networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus';
    const named = { ...monitoring, from: [{ podSelector: { matchLabels: { app: 'prometheus' } } }] };
    expect(ingressOf(await rendered('--set', from))).toEqual([named]);
    expect(ingressOf(await rendered('--set', 'networkPolicy.metricsFrom=null')) ?? []).toEqual([]);
  });
});
