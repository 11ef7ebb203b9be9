import type { CacheEvent, KubeObject, ObjectMeta } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import {
  and,
  annotationsChanged,
  deletion,
  finalizersChanged,
  generationChanged,
  hasLabels,
  labelsChanged,
  not,
  or,
  type Predicate,
  resourceVersionChanged,
} from './predicates.ts';

function event(type: CacheEvent['type'], now: ObjectMeta, before?: ObjectMeta): CacheEvent {
  const withMeta = (metadata: ObjectMeta): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  return {
    type,
    key: { name: 'a' },
    object: withMeta(now),
    meta: now,
    ...(before ? { old: withMeta(before), oldMeta: before } : {}),
    initial: false,
    tombstone: false,
  };
}

const yes: Predicate = () => true;
const no: Predicate = () => false;

describe('predicates', () => {
  test.each<[string, Predicate, ObjectMeta, ObjectMeta, boolean]>([
    ['a new generation', generationChanged, { generation: 2 }, { generation: 1 }, true],
    ['the same generation', generationChanged, { generation: 1, resourceVersion: '2' }, { generation: 1 }, false],
    ['a deletion mark', generationChanged, { generation: 1, deletionTimestamp: 'x' }, { generation: 1 }, true],
    ['another label', labelsChanged, { labels: { a: '2' } }, { labels: { a: '1' } }, true],
    ['a label more', labelsChanged, { labels: { a: '1', b: '1' } }, { labels: { a: '1' } }, true],
    ['a label less', labelsChanged, {}, { labels: { a: '1' } }, true],
    ['the same labels', labelsChanged, { labels: { a: '1' } }, { labels: { a: '1' } }, false],
    ['no labels and empty ones', labelsChanged, { labels: {} }, {}, false],
    ['another annotation', annotationsChanged, { annotations: { a: '2' } }, { annotations: { a: '1' } }, true],
    ['the same annotations', annotationsChanged, { annotations: { a: '1' } }, { annotations: { a: '1' } }, false],
    ['another finalizer', finalizersChanged, { finalizers: ['x'] }, {}, true],
    ['the same finalizers', finalizersChanged, { finalizers: ['x'] }, { finalizers: ['x'] }, false],
    ['another version', resourceVersionChanged, { resourceVersion: '2' }, { resourceVersion: '1' }, true],
    ['the same version', resourceVersionChanged, { resourceVersion: '1' }, { resourceVersion: '1' }, false],
    ['an object on its way out', deletion, { deletionTimestamp: 'x' }, {}, true],
    ['an object that stays', deletion, {}, {}, false],
    ['the wanted labels', hasLabels({ a: '1' }), { labels: { a: '1', b: '2' } }, {}, true],
    ['other labels', hasLabels({ a: '1' }), { labels: { a: '2' } }, {}, false],
  ])('%s', (_title, predicate, now, before, expected) => {
    expect(predicate(event('updated', now, before))).toBe(expected);
  });

  test('objects that come and go always count', () => {
    for (const predicate of [generationChanged, labelsChanged, annotationsChanged, resourceVersionChanged]) {
      expect(predicate(event('added', {}))).toBe(true);
      expect(predicate(event('deleted', {}))).toBe(true);
    }
    expect(deletion(event('deleted', {}))).toBe(true);
    expect(deletion(event('added', {}))).toBe(false);
  });

  test('and, or, not', () => {
    const any = event('added', {});
    expect([and(yes, no)(any), and(yes, yes)(any), or(yes, no)(any), or(no, no)(any), not(no)(any)]).toEqual([
      false,
      true,
      true,
      false,
      true,
    ]);
  });

  test('where the cache knows the generations, generationChanged looks at nothing else', () => {
    const numbers = (generation: number, oldGeneration: number): CacheEvent => ({
      ...event('updated', {}, {}),
      generation,
      oldGeneration,
      get meta(): never {
        throw new Error('metadata was parsed');
      },
    });
    expect(generationChanged(numbers(2, 1))).toBe(true);
    expect(generationChanged(numbers(1, 1))).toBe(false);
    // Kinds without generations are judged by what is left: the mark of deletion.
    const marked = { ...event('updated', { deletionTimestamp: 'x' }, {}), generation: 0, oldGeneration: 0 };
    expect(generationChanged(marked)).toBe(true);
  });
});
