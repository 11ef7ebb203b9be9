import { resolve } from 'node:path';
import type { KubeObject, PolicyRule } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { expect, test } from 'vitest';

import { findOperators } from '../src/packages.ts';
import { call } from './kit.ts';

const operators = await findOperators();
const chart = resolve(import.meta.dirname, '..', '..', '..', 'deploy', 'chart');

/** Whether an account may make StatefulSets, which only hosted control planes need. */
function hosts(objects: readonly KubeObject[]): boolean {
  const role = objects.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'slipway-control-plane',
  );
  const rules = role!['rules'] as PolicyRule[];
  return rules.some(({ resources, verbs }) => resources?.includes('statefulsets') && verbs.includes('create'));
}

async function inChart(...settings: string[]): Promise<boolean> {
  const values = ['operators={control-plane}', ...settings.map((each) => `config.${each}`)];
  const { code, out, err } = await call(['chart', 'template', 'slipway', chart, '--set', values.join(',')]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return hosts(parseManifests(out));
}

async function installed(...settings: string[]): Promise<boolean> {
  const set = settings.flatMap((each) => ['--set', each]);
  return hosts(parseManifests((await call(['install', 'control-plane', '--print', ...set], { operators })).out));
}

test('the chart gives the rights on a host cluster to whoever hosts control planes where it runs', async () => {
  expect(await inChart('control-plane-provider=hosted')).toBe(true);
  expect(await inChart('provider=hosted')).toBe(true);
  expect(await inChart('provider=existing')).toBe(false);
  expect(await inChart()).toBe(false);
  // Then they are needed on that cluster: `slipway rbac control-plane --cluster host`.
  expect(await inChart('provider=hosted', 'host-cluster=/etc/host/kubeconfig')).toBe(false);
});

test('slipway install gives them with the setting', async () => {
  expect(await installed('control-plane-provider=hosted')).toBe(true);
  expect(await installed('provider=hosted', 'host-cluster=/etc/host/kubeconfig')).toBe(false);
  expect(await installed()).toBe(false);
});

test('slipway rbac prints them for the cluster that hosts', async () => {
  const { out } = await call(['rbac', 'control-plane', '--cluster', 'host'], { operators });
  expect(hosts(parseManifests(out))).toBe(true);
});
