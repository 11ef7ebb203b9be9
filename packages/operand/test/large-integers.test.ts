import { isConditionTrue, type KubeObject } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import type { TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import {
  changeTo,
  definitionOf,
  operand,
  operandCluster,
  operandWithReason,
  readyOperand,
  runOperator,
} from './story.ts';

/** 2^53 + 1 and + 3: a JavaScript number holds neither. */
const [first, second] = ['9007199254740993', '9007199254740995'];
const group = 'numbers.example.com';

const text = (name: string, spec: string) =>
  `{"apiVersion":"${group}/v1","kind":"Gadget","metadata":{"namespace":"default","name":"${name}"},"spec":${spec}}`;
const gadget = (name: string, spec: string): KubeObject => parseManifests(text(name, spec))[0]!;

/** The spec of a Gadget as the server sends it: JavaScript's own objects could not hold the number. */
async function specText(cluster: TestCluster, name: string): Promise<string | undefined> {
  const path = `/apis/${group}/v1/namespaces/default/gadgets/${name}`;
  const { body } = await cluster.transport().send({ method: 'GET', path });
  return /"spec":(\{[^}]*\})/.exec(body.toString())?.[1];
}

test('9007199254740993 goes unchanged through an Operand: from its spec and its sources, over changes, drift and a roll-back', async () => {
  await using cluster = await operandCluster({ objects: [definitionOf(group, 'Gadget')] });
  const { client } = cluster;
  await runOperator(cluster);
  await client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name: 'source' },
    data: {
      'set.yaml': `apiVersion: ${group}/v1\nkind: Gadget\nmetadata: {namespace: default, name: sourced}\nspec: {limit: ${first}}\n`,
    },
  });
  await client.create(
    operand('shop', [gadget('inline', `{"limit":${first}}`)], {
      steadyStateFrom: [{ kind: 'ConfigMap', namespace: 'default', name: 'source' }],
      checkDeploymentHealth: true,
      onFailure: 'Rollback',
      healthRules: [
        { group, kind: 'Gadget', current: { path: '.metadata.uid' }, failed: { path: '.spec.broken', equals: 'yes' } },
      ],
    }),
  );
  await readyOperand(cluster, 'shop');
  const specs = async () => [await specText(cluster, 'inline'), await specText(cluster, 'sourced')];
  expect(await specs()).toEqual([`{"limit":${first}}`, `{"limit":${first}}`]);

  await changeTo(cluster, 'shop', [gadget('inline', `{"limit":${second}}`)]);
  await readyOperand(cluster, 'shop');
  expect(await specs()).toEqual([`{"limit":${second}}`, `{"limit":${first}}`]);

  const edited = gadget('inline', `{"limit":${first}}`);
  await client.apply(edited, { fieldManager: 'somebody', force: true });
  await cluster.eventually(
    'the last digit is put right',
    async () => (await specText(cluster, 'inline')) === `{"limit":${second}}`,
  );
  await readyOperand(cluster, 'shop');

  await cluster.eventually('the manifest is kept', async () =>
    isConditionTrue(await client.get(Operand, { name: 'shop' }), 'RollbackPossible'),
  );
  await changeTo(cluster, 'shop', [gadget('inline', '{"broken":"yes","limit":1}')]);
  await operandWithReason(cluster, 'shop', 'RolledBack');
  expect(await specs()).toEqual([`{"limit":${second}}`, `{"limit":${first}}`]);
});
