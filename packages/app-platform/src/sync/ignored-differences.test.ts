import type { KubeObject } from '@slipway/kube';
import { refOf } from '@slipway/manifests';
import { expect, test } from 'vitest';

import { IgnoredDifferences } from './ignored-differences.ts';

const object = (rest: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'shop', name: 'web' },
  ...rest,
});

function respected(rule: object, wanted: object, live: object): object {
  const rules = new IgnoredDifferences([{ group: 'apps', kind: 'Deployment', ...rule }]);
  const { spec } = rules.respecting(object({ spec: wanted }), refOf(object({})), object({ spec: live })) as {
    spec?: object;
  };
  return spec!;
}

test('a field that others set is wanted as it is, also where only one side has it', () => {
  const rule = { jsonPointers: ['/spec/replicas'] };
  expect(respected(rule, { replicas: 1, paused: true }, { replicas: 5 })).toEqual({ replicas: 5, paused: true });
  expect(respected(rule, { replicas: 1 }, {})).toEqual({});
  expect(respected(rule, {}, { replicas: 5 })).toEqual({ replicas: 5 });
});

test('jq paths go through lists, and quoted names through dots', () => {
  const rule = { jqPathExpressions: ['.spec.items[]?.ca', '.spec["a.b"]'] };
  const wanted = { items: [{ ca: '1', x: 1 }, { ca: '2' }], 'a.b': 1 };
  const live = { items: [{ ca: 'one' }, { ca: 'two' }, { ca: 'three' }], 'a.b': 2 };
  expect(respected(rule, wanted, live)).toEqual({ items: [{ ca: 'one', x: 1 }, { ca: 'two' }], 'a.b': 2 });
});

test('rules are for the objects they name', () => {
  const rule = { name: 'other', jsonPointers: ['/spec/replicas'] };
  expect(respected(rule, { replicas: 1 }, { replicas: 5 })).toEqual({ replicas: 1 });
});

test.each([
  [{ jsonPointers: ['spec'] }, 'a JSON pointer begins with /'],
  [{ jqPathExpressions: ['.spec | keys'] }, 'only paths such as .spec.items[].name are supported'],
  [{ jqPathExpressions: [' '] }, 'names no field'],
  [{ managedFieldsManagers: ['kube'] }, 'managedFieldsManagers is not supported'],
])('%j is refused by name', (rule, why) => {
  expect(() => respected(rule, {}, {})).toThrow(why);
});
