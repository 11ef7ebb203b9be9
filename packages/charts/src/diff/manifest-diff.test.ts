import { expect, test } from 'vitest';

import { diffManifests } from './manifest-diff.ts';

const configMap = (name: string, value: string, annotations: Readonly<Record<string, string>> = {}) =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, annotations: ${JSON.stringify(annotations)}}\ndata: {value: ${value}}\n`;

function told(before: string, after: string): string[] {
  return diffManifests(before, after, 'apps').map(({ object, change }) => `${object} ${change}`);
}

test('an object that changes its version is one that changes', () => {
  const scaler = (version: string) =>
    `apiVersion: autoscaling/${version}\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n`;
  expect(told(scaler('v1'), scaler('v2'))).toEqual(['HorizontalPodAutoscaler apps/web (autoscaling/v2) changed']);
  const ingress = (group: string) => `apiVersion: ${group}/v1\nkind: Ingress\nmetadata: {name: web}\n`;
  expect(told(ingress('extensions'), ingress('networking.k8s.io'))).toEqual([
    'Ingress apps/web (networking.k8s.io/v1) added',
    'Ingress apps/web (extensions/v1) removed',
  ]);
});

test('an object that asks to stay is not removed', () => {
  expect(told(configMap('a', 'x', { 'helm.sh/resource-policy': ' Keep' }) + configMap('b', 'x'), '')).toEqual([
    'ConfigMap apps/b (v1) removed',
  ]);
});

test('an object and hooks that share its name hide no change of each other', () => {
  const all = (object: string, early: string, late: string) =>
    configMap('a', object) +
    configMap('a', early, { 'helm.sh/hook': 'pre-upgrade' }) +
    configMap('a', late, { 'helm.sh/hook': 'post-upgrade' });
  expect(told(all('1', '1', '1'), all('1', '1', '1'))).toEqual([]);
  for (const changed of [all('2', '1', '1'), all('1', '2', '1'), all('1', '1', '2')])
    expect(told(all('1', '1', '1'), changed)).toEqual(['ConfigMap apps/a (v1) changed']);
  // As it becomes a hook it leaves the release, and is deleted.
  expect(told(configMap('a', '1'), configMap('a', '1', { 'helm.sh/hook': 'pre-upgrade' }))).toEqual([
    'ConfigMap apps/a (v1) added',
    'ConfigMap apps/a (v1) removed',
  ]);
});

test('what kubectl noted of a Secret is as hidden as the Secret', () => {
  const secret = (word: string) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'a',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"word":"${word}"}}` },
      },
      data: { word },
    });
  const differences = diffManifests(secret('hunter1'), secret('hunter2'), 'apps');
  expect(differences).toHaveLength(1);
  expect(JSON.stringify(differences)).not.toContain('hunter');
});

const oneSecret = (word: string) => `{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {word: ${word}}}`;

test.each([
  ['alone', oneSecret],
  ['in a list', (word: string) => `{apiVersion: v1, kind: List, items: [${oneSecret(word)}]}`],
  [
    'in a list of a list',
    (word: string) =>
      `{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [${oneSecret(word)}]}]}`,
  ],
  [
    'with data that is no mapping',
    (word: string) => `{kind: Secret, metadata: {name: s}, data: [${word}], stringData: ${word}}`,
  ],
])('what a Secret holds is not shown: one %s', (_, manifest) => {
  const differences = [
    ...diffManifests(manifest('hunter1'), manifest('hunter2'), 'default'),
    ...diffManifests('', manifest('hunter1'), 'default'),
    ...diffManifests(manifest('hunter1'), '', 'default'),
  ];
  expect(differences.map(({ change }) => change)).toEqual(['changed', 'added', 'removed']);
  expect(differences.every(({ object }) => object.startsWith('Secret default/s'))).toBe(true);
  expect(JSON.stringify(differences)).not.toContain('hunter');
});
