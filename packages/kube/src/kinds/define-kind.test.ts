import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as fc from 'fast-check';
import { Type } from 'typebox';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';

import type { ObjectOf } from '../kind.ts';
import { newObject } from './new-object.ts';
import { checkCrds, writeCrds } from './crd-files.ts';
import { toCustomResourceDefinition } from './custom-resource-definition.ts';
import { applyDefaults } from './defaults.ts';
import { defineKind, pluralOf } from './define-kind.ts';
import type { Condition } from './meta-types.ts';
import { AnyFields, Conditions, IntOrString, ListMap, Nullable, Time } from './schemas.ts';
import { toStructuralSchema } from './structural-schema.ts';
import { problemText, validateObject, validateValue } from './validate-object.ts';

const Website = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
  spec: Type.Object({
    image: Type.String({ minLength: 1 }),
    replicas: Type.Integer({ minimum: 0, default: 1 }),
    tier: Type.Optional(Type.Union([Type.Literal('free'), Type.Literal('paid')])),
    ports: Type.Optional(ListMap(Type.Object({ name: Type.String(), port: IntOrString() }), ['name'])),
    labels: Type.Optional(Type.Record(Type.String(), Type.String())),
    values: Type.Optional(AnyFields()),
    until: Type.Optional(Nullable(Time())),
    limits: Type.Optional(Type.Object({ cpu: Type.Integer({ default: 2, exclusiveMinimum: 0 }) })),
  }),
  status: Type.Object({ url: Type.Optional(Type.String()), conditions: Conditions }),
  columns: [
    { name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Replicas', path: '.spec.replicas' },
    { name: 'Until', path: '.spec.until', priority: 1 },
  ],
  shortNames: ['web'],
  categories: ['all'],
  rules: [{ rule: 'self.metadata.name.size() < 40', message: 'name too long' }],
  selectableFields: ['.spec.image'],
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  versions: [{ version: 'v1beta1', deprecated: 'use v1', spec: Type.Object({ picture: Type.String() }) }],
});
type Website = ObjectOf<typeof Website>;

const site = newObject(Website, { metadata: { name: 'a', namespace: 'b' }, spec: { image: 'nginx', replicas: 2 } });

describe('static types', () => {
  test('come from the schemas', () => {
    expectTypeOf<Website['spec']['replicas']>().toEqualTypeOf<number>();
    expectTypeOf<Website['spec']['tier']>().toEqualTypeOf<'free' | 'paid' | undefined>();
    expectTypeOf<NonNullable<Website['status']>['conditions']>().toEqualTypeOf<Condition[]>();
    expectTypeOf<Website['apiVersion']>().toEqualTypeOf<'example.com/v1'>();
    expect(site).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Website',
      metadata: { name: 'a', namespace: 'b' },
      spec: { image: 'nginx', replicas: 2 },
    });
  });
});

describe('toCustomResourceDefinition', () => {
  const crd = toCustomResourceDefinition(Website);

  test('names the resource', () => {
    expect(crd.metadata.name).toBe('websites.example.com');
    expect(crd.spec.names).toEqual({
      kind: 'Website',
      listKind: 'WebsiteList',
      plural: 'websites',
      singular: 'website',
      shortNames: ['web'],
      categories: ['all'],
    });
  });

  test('writes a structural schema', () => {
    const [version] = crd.spec.versions;
    const schema = version!.schema!.openAPIV3Schema!;
    expect(schema.required).toEqual(['spec']);
    expect(schema['x-kubernetes-validations']).toHaveLength(1);
    expect(schema.properties!['spec']).toEqual({
      type: 'object',
      required: ['image'],
      properties: {
        image: { type: 'string', minLength: 1 },
        replicas: { type: 'integer', minimum: 0, default: 1 },
        tier: { type: 'string', enum: ['free', 'paid'] },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name', 'port'],
            properties: {
              name: { type: 'string' },
              port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
            },
          },
        },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        values: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        until: { type: 'string', format: 'date-time', nullable: true },
        limits: {
          type: 'object',
          properties: { cpu: { type: 'integer', default: 2, minimum: 0, exclusiveMinimum: true } },
        },
      },
    });
    expect(schema.properties!['status']!.properties!['conditions']).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });
  });

  test('takes the type of a column from the schema and adds an age', () => {
    expect(crd.spec.versions[0]!.additionalPrinterColumns).toEqual([
      { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
      { name: 'Until', type: 'date', jsonPath: '.spec.until', priority: 1 },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ]);
  });

  test('has subresources, selectable fields and other versions', () => {
    const [current, old] = crd.spec.versions;
    expect(current).toMatchObject({
      served: true,
      storage: true,
      subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas' } },
      selectableFields: [{ jsonPath: '.spec.image' }],
    });
    expect(old).toMatchObject({
      name: 'v1beta1',
      served: true,
      storage: false,
      deprecated: true,
      deprecationWarning: 'use v1',
    });
    expect(old!.subresources).toBeUndefined();
  });

  test('hands out a copy: changing a CRD does not change the next', () => {
    const first = toCustomResourceDefinition(Website);
    first.spec.versions[0]!.schema!.openAPIV3Schema!.properties!['spec']!.required!.push('broken');
    expect(toCustomResourceDefinition(Website)).toEqual(crd);
  });
});

describe('toStructuralSchema', () => {
  const cases: [name: string, schema: object, problem: string][] = [
    ['tuple', Type.Tuple([Type.String()]), 'spec.x is a tuple'],
    ['mixed union', Type.Union([Type.String(), Type.Boolean()]), 'spec.x may be string or boolean'],
    ['null', Type.Null(), 'spec.x is always null'],
    ['reference', Type.Ref('other'), 'spec.x refers to another schema'],
    ['key pattern', Type.Record(Type.String({ pattern: '^a' }), Type.String()), 'spec.x restricts the keys'],
    ['unique items', Type.Array(Type.String(), { uniqueItems: true }), 'spec.x has uniqueItems'],
    ['unknown keyword', Type.String({ contentEncoding: 'base64' }), 'spec.x uses "contentEncoding"'],
    ['list key absent', ListMap(Type.Object({ a: Type.String() }), ['b']), 'spec.x has list-map key "b"'],
    [
      'list key optional',
      ListMap(Type.Object({ a: Type.Optional(Type.String()) }), ['a']),
      'spec.x[].a is a list-map key',
    ],
  ];
  test.each(cases)('refuses what a CRD cannot say, by name: %s', (_name, schema, problem) => {
    expect(() => toStructuralSchema(schema, 'spec.x')).toThrow(problem);
  });

  test('puts the variants of a union of objects side by side', () => {
    const source = Type.Union([
      Type.Object({ type: Type.Literal('git'), url: Type.String() }),
      Type.Object({ type: Type.Literal('none'), note: Type.Optional(Type.String()) }),
    ]);
    expect(toStructuralSchema(source, 'spec.source')).toEqual({
      type: 'object',
      required: ['type'],
      properties: {
        type: { type: 'string', enum: ['git', 'none'] },
        url: { type: 'string' },
        note: { type: 'string' },
      },
      anyOf: [
        { required: ['type', 'url'], properties: { type: { enum: ['git'] } } },
        { required: ['type'], properties: { type: { enum: ['none'] } } },
      ],
    });
  });

  test('merges an intersection', () => {
    const both = Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Optional(Type.Boolean()) })]);
    expect(toStructuralSchema(both, 'spec')).toEqual({
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'boolean' } },
    });
  });

  test('keeps unknown fields below Type.Any and open objects', () => {
    expect(toStructuralSchema(Type.Any(), 'x')).toEqual({
      'x-kubernetes-preserve-unknown-fields': true,
    });
    const open = Type.Object({ a: Type.String() }, { additionalProperties: true });
    expect(toStructuralSchema(open, 'x')).toMatchObject({
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: { type: 'string' } },
    });
  });
});

describe('validateObject', () => {
  const problems = (spec: unknown) => problemText(validateObject(Website, { ...site, spec }));

  test('accepts what is right', () => {
    expect(problems({ image: 'a', replicas: 0, until: null, values: { any: [1] }, labels: { a: 'b' } })).toBe('');
    expect(
      problems({
        image: 'a',
        ports: [
          { name: 'x', port: 1 },
          { name: 'y', port: 'http' },
        ],
      }),
    ).toBe('');
  });

  const wrong: [name: string, spec: unknown, problem: string][] = [
    ['missing', {}, 'spec.image: Required value'],
    ['type', { image: 3 }, 'spec.image: Invalid value: 3: must be of type string'],
    ['length', { image: '' }, 'spec.image: Invalid value: "": should be at least 1 chars long'],
    ['minimum', { image: 'a', replicas: -1 }, 'spec.replicas: Invalid value: -1: should be greater than or equal to 0'],
    ['fraction', { image: 'a', replicas: 1.5 }, 'spec.replicas: Invalid value: 1.5: must be of type integer'],
    ['enum', { image: 'a', tier: 'x' }, 'spec.tier: Unsupported value: "x": supported values: "free", "paid"'],
    ['null', { image: null }, 'spec.image: Invalid value: null: must be of type string'],
    ['map value', { image: 'a', labels: { b: 1 } }, 'spec.labels.b: Invalid value: 1: must be of type string'],
    ['time', { image: 'a', until: 'soon' }, 'spec.until: Invalid value: "soon": should be a date-time'],
    ['unknown', { image: 'a', imge: 'b' }, 'spec.imge: unknown field'],
    [
      'duplicate',
      {
        image: 'a',
        ports: [
          { name: 'x', port: 1 },
          { name: 'x', port: 2 },
        ],
      },
      'spec.ports[1]: Duplicate value: {"name":"x"}',
    ],
    [
      'exclusive bound',
      { image: 'a', limits: { cpu: 0 } },
      'spec.limits.cpu: Invalid value: 0: should be greater than 0',
    ],
    ['int or string', { image: 'a', ports: [{ name: 'x', port: true }] }, 'spec.ports[0].port: Invalid value: true'],
  ];
  test.each(wrong)('names the field: %s', (_name, spec, problem) => {
    expect(problems(spec)).toContain(problem);
  });

  test('looks at apiVersion, kind, metadata and spec', () => {
    expect(problemText(validateObject(Website, { kind: 'Website', apiVersion: 'example.com/v2' }))).toBe(
      'apiVersion: must be example.com/v1; metadata: Required value; spec: Required value',
    );
    expect(validateObject(Website, 'text')).toEqual([{ field: '', message: 'must be an object' }]);
  });

  test('leaves a pattern only Go understands to the server', () => {
    const schema = { type: 'string', pattern: '(?i)^a$' };
    expect(validateValue('b', { ...schema, pattern: String.raw`(?P<x>a)` })).toEqual([]);
    expect(validateValue('b', { ...schema, pattern: String.raw`^a\_$` })).toHaveLength(1);
  });

  test('never throws, whatever it is given', () => {
    fc.assert(fc.property(fc.jsonValue(), (spec) => Array.isArray(validateObject(Website, { ...site, spec }))));
    fc.assert(fc.property(fc.jsonValue(), (object) => validateObject(Website, object).length > 0));
  });

  test('holds a union of objects to one of its variants', () => {
    const Source = defineKind({
      group: 'example.com',
      version: 'v1',
      kind: 'Source',
      scope: 'Cluster',
      spec: Type.Union([
        Type.Object({ type: Type.Literal('git'), url: Type.String() }),
        Type.Object({ type: Type.Literal('none') }),
      ]),
    });
    const check = (spec: unknown) =>
      problemText(
        validateObject(Source, { apiVersion: 'example.com/v1', kind: 'Source', metadata: { name: 'a' }, spec }),
      );
    expect(check({ type: 'git', url: 'x' })).toBe('');
    expect(check({ type: 'git' })).toBe(
      'spec: must match at least one of its alternatives (anyOf); spec.url: Required value',
    );
  });
});

describe('applyDefaults', () => {
  test('fills absent fields of present objects, on a copy', () => {
    const given = { ...site, spec: { image: 'a', limits: {} } } as unknown as Website;
    const filled = applyDefaults(Website, given);
    expect(filled.spec).toEqual({ image: 'a', replicas: 1, limits: { cpu: 2 } });
    expect(given.spec).toEqual({ image: 'a', limits: {} });
  });

  test('treats a null that is not allowed as absent', () => {
    const given = { ...site, spec: { image: 'a', replicas: null, until: null } } as unknown as Website;
    expect(applyDefaults(Website, given).spec).toEqual({ image: 'a', replicas: 1, until: null });
  });
});

describe('names', () => {
  const base = { group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Cluster' } as const;
  test.each([
    [{ ...base, group: 'nodots' }, 'group "nodots" must be a domain name'],
    [{ ...base, kind: 'thing' }, 'kind must be one CamelCase word'],
    [{ ...base, version: '1' }, 'version "1" must look like v1'],
    [{ ...base, plural: 'Things' }, 'plural "Things" must be lower case'],
    [{ ...base, versions: [{ version: 'v1' }] }, 'a version is defined twice'],
  ])('that no CRD could have are refused', (definition, problem) => {
    expect(() => defineKind(definition)).toThrow(problem);
  });

  test('have an English plural', () => {
    expect(['Proxy', 'Gateway', 'Ingress', 'Batch', 'Website', 'Mesh'].map(pluralOf)).toEqual([
      'proxies',
      'gateways',
      'ingresses',
      'batches',
      'websites',
      'meshes',
    ]);
  });
});

describe('CRD files', () => {
  let directory = '';
  afterEach(() => rm(directory, { recursive: true, force: true }));

  test('are written once and checked', async () => {
    directory = await mkdtemp(join(tmpdir(), 'crds-'));
    expect(await checkCrds(directory, [Website])).toEqual(['example.com_websites.yaml is missing']);
    expect(await writeCrds(directory, [Website])).toEqual(['example.com_websites.yaml']);
    expect(await writeCrds(directory, [Website])).toEqual([]);
    expect(await checkCrds(directory, [Website])).toEqual([]);
    expect(await checkCrds(directory, [])).toEqual(['example.com_websites.yaml belongs to no kind']);
    const path = join(directory, 'example.com_websites.yaml');
    await writeFile(path, `${await readFile(path, 'utf8')}\n# edited\n`);
    expect(await checkCrds(directory, [Website])).toEqual([
      'example.com_websites.yaml is not what the kind Website says; write it again',
    ]);
  });
});
