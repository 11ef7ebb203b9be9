import { describe, expect, it } from 'vitest';
import type { Schema } from '../schema/schema.ts';
import { compileRule } from './environment.ts';

const spec: Schema = {
  type: 'object',
  properties: {
    count: { type: 'integer' },
    color: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    inner: { type: 'object', properties: { a: { type: 'string' } } },
    list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    'a-b': { type: 'string' },
    namespace: { type: 'string' },
    when: { type: 'string', format: 'date-time' },
    every: { type: 'string', format: 'duration' },
    any: { type: 'object', preserveUnknownFields: true },
    port: { intOrString: true },
  },
};
const value = {
  count: 5,
  color: 'red',
  tags: ['a', 'b'],
  inner: { a: '1' },
  list: [{ a: '1' }],
  labels: { x: 'y' },
  'a-b': 'dash',
  namespace: 'word',
  when: '2026-01-01T00:00:00Z',
  every: '90m',
  any: { deep: { n: 3 } },
  port: 8080,
};

const variables = { self: spec, oldSelf: spec };

describe('rules', () => {
  it.each([
    'self.count > 4 && self.count + 1 == 6',
    "self.color in ['red', 'blue']",
    'self == oldSelf && self.inner == oldSelf.inner && self.list == oldSelf.list',
    "self.labels['x'] == 'y' && 'x' in self.labels",
    "self.a__dash__b == 'dash' && self.__namespace__ == 'word'",
    "self.when < timestamp('2030-01-01T00:00:00Z') && self.every > duration('1h')",
    'self.any.deep.n == 3 && self.port == 8080',
    "self.?inner.?a.orValue('none') == '1' && has(self.inner.a)",
    "self.tags.exists_one(t, t == 'a') && self.tags.map(t, t + '!').join(',') == 'a!,b!'",
    'self.inner != null && !(null == self.inner)',
    'has(self.list[0].a) && !has(self.list[0].b) && has(self.list.filter(i, i.a == "1")[0].a)',
    // strings and regular expressions
    "'hello'.charAt(1) == 'e' && 'aXbX'.replace('X', '-', 1) == 'a-bX' && 'abc'.reverse() == 'cba'",
    "'%s is %d of %.2f'.format(['x', 2, 3.14159]) == 'x is 2 of 3.14' && '%x'.format([255]) == 'ff'",
    String.raw`'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'abc'.find('z') == ''`,
    // lists, sets, numbers
    '[1, 2, 3].isSorted() && [1, 2, 3].sum() == 6 && [3, 1].min() == 1 && [1, 3, 2].max() == 3',
    '[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2',
    'sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1]) && !sets.intersects([1], [2])',
    'math.greatest(1, 2) == 2 && math.least([3, 1]) == 1',
    // URLs and addresses
    "url('https://a.example:80/p?q=1').getHostname() == 'a.example' && isURL('/path') && !isURL('nope')",
    "ip('10.0.0.1').family() == 4 && ip('::1').isLoopback() && isIP('1.2.3.4') && !isIP('1.2.3.04')",
    "ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8:0::1')",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
    "string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8' && cidr('::/0').prefixLength() == 0",
    // quantities, formats, versions
    "quantity('1.5Gi').isGreaterThan(quantity('1Gi')) && quantity('500m').add(quantity('500m')) == quantity('1')",
    "isQuantity('1Ki') && !isQuantity('1Kx') && quantity('2k').asInteger() == 2000 && quantity('-1').sign() == -1",
    "format.dns1123Label().validate('Nope').hasValue() && !format.named('uri').value().validate('https://x').hasValue()",
    "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-rc.1').isLessThan(semver('1.0.0')) && isSemver('v1.0', true)",
  ])('%s', (rule) => {
    const compiled = compileRule(rule, { variables });
    expect(compiled.error).toBeUndefined();
    expect(compiled.evaluate({ self: value, oldSelf: structuredClone(value) })).toBe(true);
  });

  it('see an old value only when there is one, if they say so', () => {
    const compiled = compileRule("!oldSelf.hasValue() || oldSelf.value().color == 'red'", {
      variables: { self: spec, oldSelf: { optional: spec } },
    });
    expect(compiled.uses).toEqual(new Set(['oldSelf']));
    expect(compiled.evaluate({ self: value, oldSelf: undefined })).toBe(true);
    expect(compiled.evaluate({ self: value, oldSelf: { ...value, color: 'blue' } })).toBe(false);
  });

  it('take whatever there is where no schema is known', () => {
    const compiled = compileRule("object.spec.replicas > 1 && has(object.metadata.labels) && 'a' in object.list", {
      variables: { object: 'dyn' },
    });
    expect(compiled.evaluate({ object: { spec: { replicas: 2 }, metadata: { labels: {} }, list: ['a'] } })).toBe(true);
  });

  it('throw what went wrong while evaluating', () => {
    const compiled = compileRule('self.tags[5] == self.color', { variables });
    expect(() => compiled.evaluate({ self: value })).toThrow('index out of bounds');
  });
});

describe('rules that do not compile', () => {
  it.each([
    ['self.b > 1', "undefined field 'b'", 5],
    ['has(self.zzz)', "undefined field 'zzz'", 9],
    ['self.list.all(i, has(i.zzz))', "undefined field 'zzz'", 23],
    ['has(self.list[0].zzz)', "undefined field 'zzz'", 17],
    ['self.color == null', "found no matching overload for '_==_' applied to '(string, null)'", 12],
    ["self.count + 'a' == 1", "found no matching overload for '_+_' applied to '(int, string)'", 12],
    ['foo > 1', "undeclared reference to 'foo' (in container '')", 1],
    ['nope(1)', "undeclared reference to 'nope' (in container '')", 5],
  ])('%s', (rule, message, column) => {
    const { error } = compileRule(rule, { variables });
    expect(error).toBe(
      `compilation failed: ERROR: <input>:1:${column}: ${message}\n | ${rule}\n | ${'.'.repeat(column - 1)}^`,
    );
  });

  it('must come out as a bool or, for messages, as a string', () => {
    expect(compileRule('self.count', { variables }).error).toBe('must evaluate to a bool');
    expect(compileRule('self.count', { variables, result: 'string' }).error).toBe('must evaluate to a string');
  });

  it.each(['self.', '', '"', '((((', 'self.tags.all(', '\u0000'])('never crash on %j', (rule) => {
    expect(compileRule(rule, { variables }).error).toMatch(/^compilation failed: ERROR: <input>:1:/);
  });
});

it('loops within loops are stopped as the real server stops them, also where a quantifier forgives errors', () => {
  const list = Array.from({ length: 300 }, (_, index) => index);
  for (const text of [
    'l.all(x, l.all(y, l.all(z, x + y + z >= 0)))',
    'l.exists(x, l.exists(y, l.exists(z, x + y + z < 0)))',
    'l.map(x, l.map(y, l.filter(z, z > 0))).size() > 0',
    'l.exists_one(x, l.all(y, l.all(z, true)))',
  ]) {
    const rule = compileRule(text, { variables: { l: { type: 'array', items: { type: 'integer' } } } });
    expect(() => rule.evaluate({ l: list })).toThrow('operation cancelled: actual cost limit exceeded');
    expect(typeof rule.evaluate({ l: [1, 2, 3] })).toBe('boolean');
  }
});

it('matches takes linear time on a text made to keep others busy for ever', () => {
  const rule = compileRule("s.matches('(a+)+$') || [s].exists(t, t.matches('(a|aa)+$'))", {
    variables: { s: { type: 'string' } },
  });
  expect(rule.evaluate({ s: `${'a'.repeat(100_000)}!` })).toBe(false);
  expect(rule.evaluate({ s: 'aaa' })).toBe(true);
  expect(compileRule("s.matches('[')", { variables: { s: { type: 'string' } } }).error).toBeUndefined();
});
