import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError, exitCodes, systemClock, systemRandom, yamlText, type KubeObject } from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import { command } from '../src/plan-command.ts';
import { changeTo, configMap, operand, operandCluster, readyOperand, runOperator } from './story.ts';

interface Planned {
  readonly text: string;
  readonly error: unknown;
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-plan-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function file(name: string, ...objects: readonly unknown[]): Promise<string> {
  await writeFile(join(folder, name), objects.map(yamlText).join('---\n'));
  return name;
}

/** `slipway plan` with these values of `-f`. */
async function plan(cluster: TestCluster, files: readonly string[], input = ''): Promise<Planned> {
  let text = '';
  const terminal = {
    out: (written: string) => void (text += written),
    err: () => undefined,
    readInput: async () => input,
    interactive: false,
    colours: false,
    columns: () => 120,
    rows: () => 40,
    env: {},
    cwd: folder,
    clock: systemClock,
    random: systemRandom,
    signal: new AbortController().signal,
  };
  const connect = async () => ({
    client: cluster.client,
    transport: cluster.transport(),
    namespace: 'default',
    origin: 'a test',
    openTransport: () => cluster.transport(),
    async [Symbol.asyncDispose]() {},
  });
  const flags = {
    file: files,
    namespace: undefined,
    selector: undefined,
    'exit-code': false,
    output: 'table' as const,
  };
  try {
    await command.run!({ terminal, args: [], flags, verbose: false, connect });
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
}

/** The plan the operator itself writes into status for the same spec. */
async function statusPlan(cluster: TestCluster, name: string): Promise<string> {
  return await cluster.eventually('the plan is there', async () => {
    const found = await cluster.client.get(Operand, { name });
    return found?.status?.plan && found.status.observedGeneration === found.metadata.generation
      ? `${found.status.plan.join('\n')}\n`
      : undefined;
  });
}

const source = (...objects: KubeObject[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'source' },
  data: { 'set.yaml': objects.map(yamlText).join('---\n') },
});
const fromSource = { steadyStateFrom: [{ kind: 'ConfigMap', namespace: 'default', name: 'source' }] };

describe('slipway plan of an Operand in force', () => {
  test('finds nothing to do: sources, shared owners, kept members and long names included', async () => {
    await using cluster = await operandCluster();
    await using _ = await runOperator(cluster);
    const keeper = await cluster.client.create(configMap('keeper'));
    const owned = {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'keeper', uid: keeper.metadata.uid! }],
    };
    const unpruned = { annotations: { 'slipway.dev/prune': 'disabled' } };
    await cluster.client.create(source(configMap('sourced')));
    const wanted = operand(
      'shop-'.repeat(30) + 'x',
      [configMap('a'), configMap('b', {}, owned), configMap('c', {}, unpruned)],
      { ...fromSource, postInstall: [configMap('a', { late: 'yes' })] },
    );
    await cluster.client.create(wanted);
    await readyOperand(cluster, wanted.metadata.name!);

    const { text, error } = await plan(cluster, [await file('shop.yaml', wanted)]);
    expect(text).toBe('nothing to do (4 unchanged)\n');
    expect(error).toBeUndefined();
  });

  test('is the plan the operator itself would write', async () => {
    await using cluster = await operandCluster();
    await using _ = await runOperator(cluster);
    await cluster.client.create(operand('shop', [configMap('a', { v: '1' }), configMap('b')]));
    await readyOperand(cluster, 'shop');

    const next = [configMap('a', { v: '2' }), configMap('c')];
    const { text } = await plan(cluster, [await file('shop.yaml', operand('shop', next))]);
    expect(text).toBe(
      [
        '~ ConfigMap default/a',
        '    data.v: 1 → 2',
        '+ ConfigMap default/c',
        '- ConfigMap default/b',
        '1 to create, 1 to change, 1 to prune, 0 unchanged\n',
      ].join('\n'),
    );
    await changeTo(cluster, 'shop', next, { mode: 'Plan' });
    expect(await statusPlan(cluster, 'shop')).toBe(text);
  });

  test.each([
    [
      'prunePolicy is Orphan',
      { prunePolicy: 'Orphan' },
      [configMap('a')],
      /= ConfigMap default\/b {2}\(spec.prunePolicy/,
    ],
    ['it is more than maxPrunePercent', { maxPrunePercent: 10 }, [configMap('a')], /= .*would prune 1 of 2 objects/],
    ['the manifest has become empty', {}, [], /= .*the manifest has become empty[^]*2 to keep, 0 unchanged/],
  ])('shows no prune when %s', async (_name, extra, next, expected) => {
    await using cluster = await operandCluster();
    await using _ = await runOperator(cluster);
    await cluster.client.create(operand('shop', [configMap('a'), configMap('b')]));
    await readyOperand(cluster, 'shop');
    const { text } = await plan(cluster, [await file('shop.yaml', operand('shop', next, extra))]);
    expect(text).toMatch(expected);
    expect(text).not.toContain('to prune');
  });
});

describe('slipway plan reads', () => {
  test('several files, folders and standard input', async () => {
    await using cluster = await operandCluster();
    await file('one.yaml', configMap('one'));
    await file('two.json', configMap('two'));
    await writeFile(join(folder, 'notes.txt'), 'not: for: us');
    const { text, error } = await plan(cluster, ['.', '-'], yamlText(operand('shop', [configMap('three')])));
    expect(error).toBeUndefined();
    expect(text.match(/^\+ .*$/gm)).toEqual([
      '+ ConfigMap default/three',
      '+ ConfigMap default/one',
      '+ ConfigMap default/two',
    ]);
  });

  test.each([
    ['a list that is a text', { steadyState: 'all of it' }, 'spec.steadyState: Invalid value: "all of it": must be of'],
    [
      'a member without kind',
      { steadyState: [{ apiVersion: 'v1', metadata: {} }] },
      'spec.steadyState[0].kind: Required',
    ],
    ['a field nobody knows', { steadyStat: [] }, 'spec.steadyStat: unknown field'],
    ['a spec that is a number', 7, 'spec: Invalid value: 7: must be of type object'],
  ])('%s: the error names file, document and field', async (_name, spec, message) => {
    await using cluster = await operandCluster();
    const bad = { ...operand('bad', []), spec };
    const { text, error } = await plan(cluster, [await file('shop.yaml', configMap('a'), bad)]);
    expect(text).toBe('');
    expect(error).toBeInstanceOf(CommandError);
    expect(error).toMatchObject({
      exitCode: exitCodes.usage,
      hint: 'nothing was done; mend the manifest and try again',
    });
    expect((error as Error).message).toMatch(/^shop\.yaml, document 2, line \d+, /);
    expect((error as Error).message).toContain(message);
  });

  test('an Operand that contradicts itself: the error names the Operand and the field', async () => {
    await using cluster = await operandCluster();
    const lone = operand('shop', [], { serviceAccountName: 'x' });
    const { error } = await plan(cluster, [await file('shop.yaml', lone)]);
    expect(error).toMatchObject({
      message: 'Operand shop: spec.serviceAccountNamespace: is required with serviceAccountName',
      exitCode: exitCodes.usage,
    });
  });
});
