import fc from 'fast-check';
import { expect, test } from 'vitest';

import { UndecodableError } from './json-bytes.ts';
import { nothingCut, ObjectScan } from './object-scan.ts';

const scan = new ObjectScan();

type Json = Record<string, unknown>;

/** Values full of the words the scan looks for, in places where it must not find them. */
const decoyKey = fc.constantFrom('name', 'metadata', 'uid', 'labels', 'managedFields', 'kind', 'x"y', '{', '}', 'ключ');
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('', '"', '\\', '\\"', '}', '{"metadata":{"name":"no"}}', 'Größe 𝄞', 'a\nb\u2028'),
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(decoyKey, tie('value'), { maxKeys: 4 }),
  ),
}));

const text = fc.oneof(fc.stringMatching(/^[a-z0-9.-]{1,40}$/), fc.string({ minLength: 1, unit: 'grapheme' }));
const strings = fc.dictionary(fc.oneof(decoyKey, fc.string()), fc.string(), { maxKeys: 4 });
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

const metadata = fc
  .record(
    {
      name: text,
      namespace: text,
      uid: text,
      resourceVersion: fc.oneof(
        fc.integer({ min: 1, max: 2 ** 50 }).map(String),
        fc.constantFrom('0', '007', '18446744073709551615', '', 'opaque'),
      ),
      generation: fc.nat(),
      labels: fc.oneof(strings, fc.constant(null)),
      annotations: fc.oneof(
        strings,
        strings.map((rest) => ({ ...rest, [lastApplied]: '{"metadata":{"name":"no"}}' })),
        fc.constant({ [lastApplied]: '{}' }),
        fc.constant(null),
      ),
      managedFields: fc.array(anyValue, { maxLength: 3 }),
      ownerReferences: fc.array(fc.dictionary(decoyKey, anyValue), { maxLength: 2 }),
      other: anyValue,
    },
    { requiredKeys: ['name'] },
  )
  .chain(shuffled);

const object = fc
  .record(
    {
      apiVersion: text,
      kind: text,
      metadata,
      spec: anyValue,
      status: anyValue,
      data: anyValue,
      managedFields: anyValue,
    },
    { requiredKeys: ['metadata'] },
  )
  .chain(shuffled) as fc.Arbitrary<Json & { metadata: Json }>;

/** The same members in any order. */
function shuffled<T extends object>(value: T): fc.Arbitrary<T> {
  const members = Object.entries(value);
  return fc.shuffledSubarray(members, { minLength: members.length }).map((entries) => Object.fromEntries(entries) as T);
}

/** JSON text in one of the ways servers write it. */
const layout = fc.constantFrom<(value: unknown) => string>(
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, undefined, 2),
  (value) => JSON.stringify(value, undefined, '\t'),
);

function bytesOf(
  value: unknown,
  write: (value: unknown) => string,
  padding: string,
): { bytes: Buffer; start: number; end: number } {
  const body = Buffer.from(write(value));
  const before = Buffer.from(padding);
  return { bytes: Buffer.concat([before, body, before]), start: before.length, end: before.length + body.length };
}

function withoutCuts(bytes: Buffer, start: number, end: number): unknown {
  const kept: Buffer[] = [];
  let from = start;
  for (let i = 0; i < scan.cuts.size; i += 1) {
    kept.push(bytes.subarray(from, scan.cuts.start(i)));
    from = scan.cuts.end(i);
  }
  kept.push(bytes.subarray(from, end));
  return JSON.parse(Buffer.concat(kept).toString());
}

test('the header is what JSON.parse says it is', () => {
  fc.assert(
    fc.property(object, layout, fc.constantFrom('', '  ', ',"x":"'), (value, write, padding) => {
      const { bytes, start, end } = bytesOf(value, write, padding);
      const parsed = JSON.parse(write(value)) as {
        metadata: Record<string, string>;
        apiVersion?: string;
        kind?: string;
      };
      scan.scan(bytes, start, bytes.length, nothingCut, true);
      expect(scan.end).toBe(end);
      expect(scan.name).toBe(parsed.metadata['name']);
      expect(scan.namespace).toBe(parsed.metadata['namespace'] ?? '');
      expect(scan.uid).toBe(parsed.metadata['uid'] ?? '');
      expect(String(scan.version)).toBe(parsed.metadata['resourceVersion'] ?? '');
      expect(scan.generation).toBe(parsed.metadata['generation'] ?? 0);
      expect(scan.labels).toEqual(parsed.metadata['labels'] ?? {});
      expect(scan.hasKind).toBe(parsed.kind !== undefined);
      expect(scan.hasApiVersion).toBe(parsed.apiVersion !== undefined);
      expect(JSON.parse(bytes.toString('utf8', scan.metadataStart, scan.metadataEnd))).toEqual(parsed.metadata);
      expect(scan.cuts.size).toBe(0);
    }),
    { numRuns: 300 },
  );
});

test('a scan that stops early finds the same', () => {
  fc.assert(
    fc.property(object, layout, (value, write) => {
      const { bytes, start, end } = bytesOf(value, write, '');
      scan.scan(bytes, start, end, nothingCut, true);
      const whole = [scan.name, scan.namespace, scan.uid, scan.version, scan.labels, scan.metadataStart];
      scan.scan(bytes, start, end, nothingCut, false);
      expect([scan.name, scan.namespace, scan.uid, scan.version, scan.labels, scan.metadataStart]).toEqual(whole);
    }),
  );
});

test('cutting bytes gives what deleting fields gives', () => {
  fc.assert(
    fc.property(
      object,
      layout,
      fc.boolean(),
      fc.option(fc.subarray(['spec', 'status', 'data']), { nil: undefined }),
      (value, write, stripManagedFields, fields) => {
        const { bytes, start, end } = bytesOf(value, write, '');
        scan.scan(bytes, start, end, { stripManagedFields, fields: fields?.map((field) => Buffer.from(field)) }, false);
        const expected = JSON.parse(write(value)) as Json & { metadata: Json };
        if (stripManagedFields) {
          delete expected.metadata['managedFields'];
          const annotations = expected.metadata['annotations'] as Json | null | undefined;
          if (annotations) delete annotations[lastApplied];
        }
        if (fields) {
          for (const key of Object.keys(expected)) {
            if (!['apiVersion', 'kind', 'metadata', ...fields].includes(key)) delete expected[key];
          }
        }
        expect(withoutCuts(bytes, start, end)).toEqual(expected);
      },
    ),
    { numRuns: 300 },
  );
});

test('an object that is torn anywhere before the end of its metadata is found out', () => {
  const bytes = Buffer.from(JSON.stringify({ metadata: { labels: { a: 'b' }, name: 'x', uid: 'u' } }));
  for (let end = 0; end < bytes.length; end += 1) {
    expect(() => scan.scan(bytes.subarray(0, end), 0, end, nothingCut, true)).toThrow(UndecodableError);
  }
});
