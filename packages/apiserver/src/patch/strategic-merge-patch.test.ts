import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.ts';
import { builtinDefinition } from '../schema/builtin.ts';
import type { Schema } from '../schema/schema.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const podSpec = builtinDefinition('io.k8s.api.core.v1.PodSpec') as Schema;
const container = builtinDefinition('io.k8s.api.core.v1.Container') as Schema;
const deploymentSpec = builtinDefinition('io.k8s.api.apps.v1.DeploymentSpec') as Schema;
const objectMeta = builtinDefinition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta') as Schema;

function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.code} ${error.message}`;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function names(list: unknown): string[] {
  return (list as { name: string }[]).map(({ name }) => name);
}

describe('applyStrategicMergePatch', () => {
  const abc = { env: [{ name: 'A', value: '1' }, { name: 'B' }, { name: 'C' }] };

  it('puts a new keyed element before those only the server has', () => {
    const result = applyStrategicMergePatch(
      { name: 'c', env: [{ name: 'A', value: '1' }] },
      { env: [{ name: 'B', value: '2' }] },
      container,
    );
    expect(result.env).toEqual([
      { name: 'B', value: '2' },
      { name: 'A', value: '1' },
    ]);
  });

  it('merges elements by key and keeps known ones in place', () => {
    const result = applyStrategicMergePatch(abc, { env: [{ name: 'B', value: 'x' }] }, container);
    expect(result.env).toEqual([{ name: 'A', value: '1' }, { name: 'B', value: 'x' }, { name: 'C' }]);
  });

  it('removes elements with $patch: delete and replaces lists with $patch: replace', () => {
    const gone = applyStrategicMergePatch(abc, { env: [{ name: 'B', $patch: 'delete' }] }, container);
    expect(names(gone.env)).toEqual(['A', 'C']);
    const replaced = applyStrategicMergePatch(abc, { env: [{ name: 'Z' }, { $patch: 'replace' }] }, container);
    expect(names(replaced.env)).toEqual(['Z']);
  });

  it('orders by $setElementOrder', () => {
    const order = [{ name: 'C' }, { name: 'D' }, { name: 'A' }];
    const result = applyStrategicMergePatch(
      abc,
      { '$setElementOrder/env': order, env: [{ name: 'D', value: 'new' }] },
      container,
    );
    expect(names(result.env)).toEqual(['B', 'C', 'D', 'A']);
    const onlyOrder = applyStrategicMergePatch(
      abc,
      { '$setElementOrder/env': [{ name: 'C' }, { name: 'A' }] },
      container,
    );
    expect(names(onlyOrder.env)).toEqual(['B', 'C', 'A']);
  });

  it('refuses a patch whose elements are not in the order it asks for', () => {
    const patch = { '$setElementOrder/env': [{ name: 'A' }, { name: 'B' }], env: [{ name: 'B' }, { name: 'A' }] };
    expect(failure(() => applyStrategicMergePatch(abc, patch, container))).toMatch(/^500 The order in patch list:/);
  });

  it('replaces maps, deletes them, and keeps only $retainKeys', () => {
    const strategy = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } };
    expect(
      applyStrategicMergePatch(strategy, { strategy: { $retainKeys: ['type'], type: 'Recreate' } }, deploymentSpec),
    ).toEqual({ strategy: { type: 'Recreate' } });
    expect(
      applyStrategicMergePatch(strategy, { strategy: { $patch: 'replace', type: 'Recreate' } }, deploymentSpec),
    ).toEqual({ strategy: { type: 'Recreate' } });
    expect(applyStrategicMergePatch(strategy, { strategy: { $patch: 'delete' } }, deploymentSpec)).toEqual({
      strategy: {},
    });
    expect(
      failure(() =>
        applyStrategicMergePatch(strategy, { strategy: { $retainKeys: ['x'], type: 'Recreate' } }, deploymentSpec),
      ),
    ).toBe('400 invalid patch format of retainKeys');
  });

  it('merges and deletes primitives of lists that merge', () => {
    const meta = { finalizers: ['a/x', 'a/y'] };
    expect(applyStrategicMergePatch(meta, { finalizers: ['a/z', 'a/y'] }, objectMeta).finalizers).toEqual([
      'a/z',
      'a/x',
      'a/y',
    ]);
    expect(
      applyStrategicMergePatch(meta, { '$deleteFromPrimitiveList/finalizers': ['a/x'] }, objectMeta).finalizers,
    ).toEqual(['a/y']);
  });

  it('replaces lists without a merge strategy and removes with null', () => {
    const result = applyStrategicMergePatch(
      { containers: [], tolerations: [{ key: 'a' }], nodeName: 'n' },
      { tolerations: [{ key: 'b' }], nodeName: null },
      podSpec,
    );
    expect(result).toEqual({ containers: [], tolerations: [{ key: 'b' }] });
  });

  it('drops directives and nulls in what is new', () => {
    const result = applyStrategicMergePatch(
      {},
      {
        containers: [
          { name: 'a', image: null },
          { name: 'b', $patch: 'delete' },
        ],
      },
      podSpec,
    );
    expect(result).toEqual({ containers: [{ name: 'a' }] });
  });

  it('answers a missing merge key with a 500', () => {
    expect(
      failure(() =>
        applyStrategicMergePatch({ containers: [{ name: 'c' }] }, { containers: [{ image: 'x' }] }, podSpec),
      ),
    ).toBe('500 map: map[image:x] does not contain declared merge key: name');
  });

  it('answers an unknown directive with a 500', () => {
    expect(failure(() => applyStrategicMergePatch({}, { $patch: 'explode' }, podSpec))).toBe(
      '500 unknown patch type: explode in map: map[$patch:explode]',
    );
  });
});
