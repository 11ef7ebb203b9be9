import { describe, expect, test } from 'vitest';

import { compileBoundedCel } from './bounded-cel.ts';
import { HealthRules } from './health-rules.ts';

const many = `[${Array.from({ length: 60 }, (_, index) => index).join(',')}]`;
const text = (length: number) => ({ object: { text: `${'a'.repeat(length)}!` } });

describe('an expression from outside', () => {
  test.each(["object.text.matches('^(a+)+$')", "[object.text].exists(t, t.matches('(a|aa)+$'))"])(
    '%s takes time in proportion to the text',
    (expression) => {
      // With backtracking this would not end in a lifetime.
      expect(compileBoundedCel(expression)(text(10_000))).toBe(false);
    },
  );

  test('matches what the language says it does', () => {
    expect(compileBoundedCel("object.text.matches('a+!')")(text(3))).toBe(true);
    expect(() => compileBoundedCel("object.text.matches('[')")(text(3))).toThrow('missing closing ]');
  });

  test('is stopped when its loops take too many steps, every time anew', () => {
    const nested = compileBoundedCel(`${many}.all(a, ${many}.all(b, ${many}.exists(c, a + b + c >= 0)))`);
    expect(nested({})).toBe(true);
    expect(nested({})).toBe(true);
    const deeper = `${many}.all(a, ${many}.all(b, ${many}.all(c, ${many}.all(d, a + b + c + d >= 0))))`;
    expect(() => compileBoundedCel(deeper)({})).toThrow('more than 100000 steps');
    expect(() => compileBoundedCel(`false || ${deeper}`)({})).toThrow('more than 100000 steps');
  });

  test('as a health rule that does not end counts as not true', () => {
    const current = "object.metadata.annotations.text.matches('^(a+)+$')";
    const rules = new HealthRules([{ group: '', kind: 'ConfigMap', current }]);
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', annotations: text(10_000).object } };
    expect(rules.of(object).status).toBe('InProgress');
  });
});
