import type { ObservedChange } from '@slipway/apiserver';
import { systemClock } from '@slipway/kube';
import { memberLabel } from '@slipway/manifests';
import { operandOperator } from '@slipway/operand';
import { expect, test } from 'vitest';

import { Story } from './story.ts';

const [whole, part] = operandOperator.kinds;

function told(
  changes: readonly { type?: ObservedChange['type']; object: object; previous?: object }[],
  colours = false,
  width?: number,
): string[] {
  const lines: string[] = [];
  const terminal = {
    clock: { ...systemClock, now: () => 0 },
    colours,
    interactive: width !== undefined,
    columns: () => width ?? 80,
  };
  const story = new Story([operandOperator], terminal, (line) => lines.push(line));
  for (const { type = 'MODIFIED', object, previous } of changes)
    story.observe({ type, object, storageId: '', revision: 1, previous } as unknown as ObservedChange);
  return lines;
}

const ready = (status: string, reason: string, message = '') => ({
  conditions: [{ type: 'Ready', status, reason, message }],
});
const operand = (status?: object) => ({
  apiVersion: whole!.apiVersion,
  kind: whole!.kind,
  metadata: { name: 'shop' },
  status,
});

test('every state of an object is told once', () => {
  const waiting = operand(ready('False', 'Waiting', 'for the\nDeployment'));
  expect(
    told([
      { object: operand() },
      { object: waiting },
      { object: waiting },
      { object: operand(ready('True', 'Ready')) },
    ]),
  ).toEqual([
    '   0.0s  Operand shop → New',
    '   0.0s  Operand shop → Waiting: for the Deployment',
    '   0.0s  Operand shop → Ready',
  ]);
});

test('of what an object is made of only the end is told', () => {
  const owned = (status: object) => ({
    apiVersion: part!.apiVersion,
    kind: part!.kind,
    metadata: {
      name: 'piece',
      ownerReferences: [{ apiVersion: whole!.apiVersion, kind: whole!.kind, name: 'shop', uid: '1', controller: true }],
    },
    status,
  });
  expect(
    told([{ object: owned(ready('False', 'Error', 'not yet')) }, { object: owned(ready('True', 'Ready')) }]),
  ).toEqual([`   0.0s  ${part!.kind} piece → Ready`]);
});

test('what an object of an operator owns is told as what it applied is: come, edited, put back, gone', () => {
  const owner = { apiVersion: whole!.apiVersion, kind: whole!.kind, name: 'shop', uid: '1', controller: true };
  const owned = (manager: string, word: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      namespace: 'b',
      ownerReferences: [owner],
      managedFields: [{ manager, operation: 'Update', fieldsV1: { 'f:data': {} } }],
    },
    data: { word },
  });
  const [made, edited, mended] = [owned('operator', 'hello'), owned('kubectl', 'bye'), owned('operator', 'hello')];
  expect(
    told([
      { type: 'ADDED', object: made },
      { object: edited, previous: made },
      { object: mended, previous: edited },
      { type: 'DELETED', object: mended },
    ]),
  ).toEqual([
    '   0.0s    + ConfigMap b/a',
    '   0.0s    ~ ConfigMap b/a: data.word changed by kubectl',
    '   0.0s      ConfigMap b/a: edit of data.word undone',
    '   0.0s    - ConfigMap b/a',
  ]);
});

test('members come, get well and go, in colours where they are wanted', () => {
  const member = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'b', labels: { [memberLabel]: 'x' } },
  };
  const changes = [
    { type: 'ADDED' as const, object: member },
    { type: 'DELETED' as const, object: member },
  ];
  expect(told(changes)).toEqual(['   0.0s    + ConfigMap b/a', '   0.0s    - ConfigMap b/a']);
  expect(told(changes, true)[0]).toBe('\u001B[2m   0.0s\u001B[0m    \u001B[32m+\u001B[0m ConfigMap b/a');
  expect(told(changes, false, 28)[0]).toBe('   0.0s    + ConfigMap b/a');
  expect(told(changes, false, 20)[0]).toBe('   0.0s    + Config…');
});
