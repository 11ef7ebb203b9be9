import type { CacheEvent, KubeObject } from '@slipway/kube';
import { refKey, refOf, type MemberResult } from '@slipway/manifests';
import { beforeEach, describe, expect, test } from 'vitest';

import { MemberKnowledge } from './member-changes.ts';

const member = (name: string, value = '1'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name },
  data: { value },
});
const keyOf = (name: string) => refKey(refOf(member(name)));
const found = (name: string, resourceVersion: string): MemberResult => ({
  ref: refOf(member(name)),
  action: 'unchanged',
  resourceVersion,
});
const event = (type: CacheEvent['type'], resourceVersion: string) =>
  ({ type, meta: { resourceVersion } }) as unknown as CacheEvent;

const configs = [member('a'), member('b'), member('c')];
const terms = 'as ever';
const fullEveryMs = 1_000;

describe('what a process knows of members', () => {
  let known: MemberKnowledge;
  beforeEach(() => {
    known = new MemberKnowledge();
    known.begin(0, fullEveryMs, '10');
    known.settle(configs, terms, [found('a', '1'), found('b', '2'), found('c', '3')], true);
    known.end('11');
    known.begin(10, fullEveryMs, '11');
  });

  test('is nothing at first', () => {
    expect(new MemberKnowledge().toLookAt(configs, terms, false)).toBeUndefined();
  });

  test('a change in the spec is looked at alone', () => {
    expect(known.toLookAt([member('a'), member('b', '2'), member('c')], terms, false)).toEqual(new Set([keyOf('b')]));
  });

  test('a change on the cluster is looked at alone, and the echo of an own write is none', () => {
    expect(known.note(keyOf('a'), event('updated', '1'))).toBe(false);
    expect(known.note(keyOf('b'), event('updated', '4'))).toBe(true);
    expect(known.note(keyOf('c'), event('deleted', '3'))).toBe(true);
    known.begin(20, fullEveryMs, '11');
    expect(known.toLookAt(configs, terms, true)).toEqual(new Set([keyOf('b'), keyOf('c')]));
  });

  test('a change during the pass that looks at the member is not lost', () => {
    known.note(keyOf('b'), event('updated', '5'));
    known.settle(configs, terms, [found('b', '4')], false);
    expect(known.toLookAt(configs, terms, false)).toEqual(new Set([keyOf('b')]));
    known.note(keyOf('b'), event('updated', '6'));
    known.settle(configs, terms, [found('b', '6')], false);
    expect(known.toLookAt(configs, terms, false)).toEqual(new Set());
  });

  test('everything is looked at when that is due, when the terms change and when somebody asks', () => {
    expect(known.toLookAt(configs, 'with health', false)).toBeUndefined();
    known.begin(20, fullEveryMs, '12');
    expect(known.toLookAt(configs, terms, true)).toBeUndefined();
    expect(known.toLookAt(configs, terms, false)).toEqual(new Set());
    known.begin(fullEveryMs, fullEveryMs, '11');
    expect(known.toLookAt(configs, terms, false)).toBeUndefined();
  });

  test('results are told when all members were looked at', () => {
    expect(known.resultsOf(configs)?.map(({ ref }) => ref.name)).toEqual(['a', 'b', 'c']);
    expect(known.resultsOf([...configs, member('d')])).toBeUndefined();
    known.distrust();
    expect(known.resultsOf(configs)).toBeUndefined();
  });
});
