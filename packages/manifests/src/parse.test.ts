import { yamlStream } from '@slipway/kube';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { ManifestError } from './manifest-error.ts';
import { parseManifests } from './parse.ts';

function problemsOf(text: string): ManifestError['problems'] {
  try {
    parseManifests(text, { source: 'set.yaml' });
  } catch (error) {
    if (error instanceof ManifestError) return error.problems;
    throw error;
  }
  throw new Error('expected a ManifestError');
}

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;

describe('parseManifests', () => {
  test.each([
    'password: *hunter2',
    'password: |hunter2\n  x',
    'password: "\\Uhunter2x"',
    'a: 1\nhunter2',
    '{"a": hunter2',
  ])('says where %j is no YAML without quoting it: the text may be that of a Secret', (text) => {
    const problems = problemsOf(text);
    expect(problems[0]!.message).not.toBe('');
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  test('reads several documents and skips empty ones', () => {
    const objects = parseManifests(`---\n${configMap('a')}---\n# only a comment\n---\n${configMap('b')}---\n`);
    expect(objects.map((object) => object.metadata.name)).toEqual(['a', 'b']);
  });

  test('takes lists apart, also typed and nested ones', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMapList',
          items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }],
        },
      ],
    };
    expect(parseManifests(JSON.stringify(list)).map((object) => object.kind)).toEqual(['ConfigMap']);
  });

  test('reads JSON objects one after another, with braces inside text', () => {
    const a = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '}{ "' } };
    const b = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } };
    expect(parseManifests(`${JSON.stringify(a)}\n${JSON.stringify(b)}`)).toEqual([a, b]);
  });

  test('keeps times as text and knows the booleans kubectl knows', () => {
    const [object] = parseManifests(
      `${configMap('a')}data:\n  when: 2024-01-02T03:04:05Z\n  flag: yes\n  quoted: "yes"\n`,
    );
    expect(object!['data']).toEqual({ when: '2024-01-02T03:04:05Z', flag: true, quoted: 'yes' });
  });

  test('resolves anchors and merge keys', () => {
    const [object] = parseManifests(`${configMap('a')}x: &x {k: v}\ndata:\n  <<: *x\n`);
    expect(object!['data']).toEqual({ k: 'v' });
  });

  test('an error names source, document and line', () => {
    const problems = problemsOf(`${configMap('a')}---\napiVersion: v1\nkind: [unclosed\n`);
    expect(problems[0]).toMatchObject({ source: 'set.yaml', document: 2 });
    expect(problems[0]!.line).toBeGreaterThanOrEqual(7);
  });

  test('all problems are reported, each with its field', () => {
    const problems = problemsOf(
      'apiVersion: v1\nmetadata:\n  labels: {a: 1}\n---\nkind: Pod\napiVersion: v1\nmetadata: {generateName: x-}\n---\njust text\n',
    );
    expect(problems.map((problem) => problem.field)).toEqual([
      'kind',
      'metadata.name',
      'metadata.labels[a]',
      'metadata.generateName',
      'document',
    ]);
    expect(problems.map((problem) => problem.document)).toEqual([1, 1, 1, 2, 3]);
  });

  test('a duplicate key is an error, not a silent choice', () => {
    expect(problemsOf(`${configMap('a')}data: {k: a, k: b}\n`)[0]!.message).toMatch(/unique/i);
  });

  test('a field inside a list names its place', () => {
    const text = 'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {}\n';
    expect(problemsOf(text)[0]!.field).toBe('items[0].metadata.name');
  });

  test('an alias bomb is refused', () => {
    const levels = Array.from(
      { length: 9 },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array.from({ length: 9 }, () => `*a${i}`).join(',')}]`,
    );
    expect(problemsOf(`a0: &a0 [x]\n${levels.join('\n')}\n`)[0]!.message).toMatch(/alias/i);
  });

  test('whatever yamlText writes, it reads back (property)', () => {
    const value = fc.dictionary(
      fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/),
      fc.oneof(fc.string(), fc.stringMatching(/^[-+]?[0-9._eE]{0,4}$/), fc.integer(), fc.boolean()),
      { maxKeys: 5 },
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (values) => {
        const objects = values.map((data, i) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `n${i}` },
          data,
        }));
        const text = yamlStream(objects);
        expect(parseManifests(text)).toEqual(objects);
      }),
    );
  });
});
