import { expect, test } from 'vitest';
import { matchesLabels } from './label-selector.ts';

const labels = { app: 'web', tier: 'front', size: '7' };

test.each([
  [{}, true],
  [{ matchLabels: { app: 'web' } }, true],
  [{ matchLabels: { app: 'web', tier: 'back' } }, false],
  [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['api', 'web'] }] }, true],
  [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, false],
  [{ matchExpressions: [{ key: 'none', operator: 'NotIn', values: ['web'] }] }, true],
  [{ matchExpressions: [{ key: 'none', operator: 'In', values: ['web'] }] }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['6'] }] }, true],
  [{ matchExpressions: [{ key: 'size', operator: 'Lt', values: ['6'] }] }, false],
  [{ matchLabels: { app: 'web' }, matchExpressions: [{ key: 'app', operator: 'Nonsense' }] }, false],
])('%j → %s', (selector, expected) => {
  expect(matchesLabels(selector, labels)).toBe(expected);
});

test('without labels only the open and the negative selectors match', () => {
  expect(matchesLabels({})).toBe(true);
  expect(matchesLabels({ matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] })).toBe(true);
  expect(matchesLabels({ matchLabels: { a: 'b' } })).toBe(false);
});
