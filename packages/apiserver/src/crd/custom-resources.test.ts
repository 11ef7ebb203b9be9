import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Resource, StrategyContext } from '../resource.ts';
import { readScale, writeScale } from '../kinds/scale.ts';
import { resourcesOfCrd } from './custom-resources.ts';
import { widgetCrd } from './widget-fixture.ts';
import { loadCel } from '../cel/late-cel.ts';

beforeAll(() => loadCel());

const context = {} as StrategyContext;
const [v1, v2] = resourcesOfCrd(widgetCrd()) as [Resource, Resource];

function widget(spec: unknown, extra: JsonObject = {}): ApiObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', namespace: 'x' }, spec, ...extra };
}

function problems(object: ApiObject, previous?: ApiObject): string[] {
  v1.strategy.applyDefaults(object);
  const errors = previous
    ? v1.strategy.validateUpdate(object, previous, context)
    : v1.strategy.validate(object, context);
  return errors.map((error) => `${error.field}: ${error.detail}`);
}

const notChecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

describe('defaults', () => {
  it('fill what is missing, also inside lists and defaults', () => {
    const object = widget({ size: 3, ports: [{ port: 80 }] });
    v1.strategy.applyDefaults(object);
    expect(object['spec']).toEqual({
      color: 'red',
      nested: { depth: 3 },
      ports: [{ port: 80, proto: 'TCP' }],
      size: 3,
    });
  });

  it('replace a null that is not allowed, drop one without a default, keep one that is allowed', () => {
    const object = widget({ size: 1, color: null, nul: null, lo: null });
    v1.strategy.applyDefaults(object);
    expect(object['spec']).toEqual({ color: 'red', nested: { depth: 3 }, nul: null, size: 1 });
  });

  it('never share a default between objects', () => {
    const [one, two] = [widget({ size: 1 }), widget({ size: 1 })];
    for (const object of [one, two]) v1.strategy.applyDefaults(object);
    (one['spec'] as { nested: { depth: number } }).nested.depth = 9;
    expect(two['spec']).toMatchObject({ nested: { depth: 3 } });
  });
});

describe('checks', () => {
  it('do not speak of rules where there are none', () => {
    const spec = { type: 'object', properties: { size: { type: 'integer' } } };
    const openAPIV3Schema = { type: 'object', properties: { spec } };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
    const [plain] = resourcesOfCrd(widgetCrd({ versions })) as [Resource];
    expect(plain.strategy.validate(widget({ size: 'x' }), context).map(({ detail }) => detail)).toEqual([
      'Invalid value: "string": spec.size in body must be of type integer: "string"',
    ]);
  });

  it('name every wrong value, then say that rules were not tried', () => {
    expect(problems(widget({ size: 99, color: 'green', ports: [{ port: 'x' }] }))).toEqual([
      'spec.color: Unsupported value: "green": supported values: "red", "blue"',
      'spec.ports[0].port: Invalid value: "string": spec.ports[0].port in body must be of type integer: "string"',
      'spec.size: Invalid value: 99: spec.size in body should be less than or equal to 10',
      notChecked,
    ]);
  });

  it.each<[string, unknown, string[]]>([
    ['a missing field', { color: 'red' }, ['spec.size: Required value', notChecked]],
    [
      'a text for an object',
      'str',
      [
        'spec: Invalid value: "string": spec in body must be of type object: "string"',
        '.spec.size: Invalid value: 0: .spec.size accessor error: str is of the type string, expected map[string]interface{}',
        notChecked,
      ],
    ],
    ['a repeated set item', { size: 1, tags: ['t', 't'] }, ['spec.tags[1]: Duplicate value: "t"']],
    [
      'a repeated map key',
      { size: 1, ports: [{ port: 1 }, { port: 1 }] },
      ['spec.ports[1]: Duplicate value: {"port":1,"proto":"TCP"}'],
    ],
    [
      'a fraction for an integer',
      { size: 1, ios: '50%', lo: 1.5 },
      [
        'spec.lo: Invalid value: "number": spec.lo in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.lo',
        notChecked,
      ],
    ],
    [
      'a bad time',
      { size: 1, when: 'yesterday' },
      ['spec.when: Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"', notChecked],
    ],
    ['a broken rule', { size: 1, lo: 5, hi: 1 }, ['spec.lo: Invalid value: lo must not exceed hi']],
    ['a rule with a computed message', { size: 1, tags: ['x'] }, ['spec: Invalid value: bad tags for color red']],
  ])('refuse %s', (_what, spec, expected) => {
    expect(problems(widget(spec))).toEqual(expected);
  });

  it('refuse another kind before anything else', () => {
    expect(problems({ ...widget({ size: 99 }), kind: 'Gadget' })).toEqual([
      'kind: Invalid value: "Gadget": must be Widget',
    ]);
  });

  it('apply transition rules to changes only', () => {
    const before = widget({ size: 1, imm: 'x' });
    v1.strategy.applyDefaults(before);
    expect(problems(widget({ size: 1, imm: 'x' }))).toEqual([]);
    expect(problems(widget({ size: 2, imm: 'x' }), before)).toEqual([]);
    expect(problems(widget({ size: 1, imm: 'y' }), before)).toEqual(['spec.imm: Invalid value: "y": imm is immutable']);
  });

  it('forgive what was wrong before and did not change', () => {
    const before = widget({ size: 99, lo: 1 });
    v1.strategy.applyDefaults(before);
    expect(problems(widget({ size: 99, lo: 2 }), before)).toEqual([]);
    expect(problems(widget({ size: 98, lo: 1 }), before)).toEqual([
      'spec.size: Invalid value: 98: spec.size in body should be less than or equal to 10',
    ]);
  });
});

describe('a resource made from a CRD', () => {
  it('has status and scale where the version declares them', () => {
    expect(Object.keys(v1.subresources)).toEqual(['status', 'scale']);
    expect(Object.keys(v2.subresources)).toEqual(['status']);
    expect(v1).toMatchObject({ plural: 'widgets', listKind: 'WidgetList', storageId: 'widgets.example.com' });
  });

  it('reads and writes the scale where the paths say', () => {
    const object = widget({ size: 4 }, { status: { replicas: 2, selector: 'a=b' } });
    expect(readScale(object, v1)).toEqual({ specReplicas: 4, statusReplicas: 2, selector: 'a=b' });
    writeScale(object, 7, v1);
    expect(object['spec']).toEqual({ size: 7 });
  });

  it('prints its columns, with null for what is not there', () => {
    const now = Date.parse('2026-01-01T00:05:00Z');
    const object = widget({ size: 7 }, { status: { phase: 'Ready' } });
    object.metadata.creationTimestamp = '2026-01-01T00:00:00Z';
    expect(v1.strategy.cells(object, now)).toEqual(['a', 7, 'Ready', null, '5m']);
    expect(v1.columns.map((column) => column.priority)).toEqual([0, 0, 0, 1, 0]);
    expect(v1.columns[1]!.description).toBe('Custom resource definition column (in JSONPath format): .spec.size');
  });

  it('selects by declared fields', () => {
    expect(v1.strategy.selectableFields['spec.color']!(widget({ color: 'red' }))).toBe('red');
    expect(v1.strategy.selectableFields['spec.color']!(widget({}))).toBe('');
    expect(v1.strategy.selectableFields['spec.size']).toBeUndefined();
  });

  it('changes its generation with everything but metadata and status', () => {
    const before = widget({ size: 1 }, { status: { phase: 'a' } });
    expect(v1.strategy.generationChanged(widget({ size: 2 }), before)).toBe(true);
    expect(v1.strategy.generationChanged(widget({ size: 1 }, { status: { phase: 'b' } }), before)).toBe(false);
  });

  it('takes nothing but the status through the subresource', () => {
    const stored = widget({ size: 1 }, { status: { phase: 'a' } });
    const written = widget({ size: 9 }, { status: { phase: 'b' } });
    written.metadata = { ...written.metadata, labels: { no: '1' }, resourceVersion: '7' };
    v1.strategy.prepareForStatusUpdate(written, stored, context);
    expect(written).toEqual({
      ...stored,
      metadata: { ...stored.metadata, resourceVersion: '7' },
      status: { phase: 'b' },
    });
  });

  it('converts between versions by renaming them', async () => {
    expect(v1.conversion).toBeUndefined();
    const stored = await v2.conversion!.toStorage([{ ...widget({ size: 1 }), apiVersion: 'example.com/v2' }]);
    expect(stored[0]!.apiVersion).toBe('example.com/v1');
    expect((await v2.conversion!.fromStorage(stored))[0]!.apiVersion).toBe('example.com/v2');
  });

  it('asks a webhook to convert, and keeps the metadata it must not touch', async () => {
    const crd = widgetCrd({ conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://x' } } } });
    const asked: unknown[] = [];
    const [, second] = resourcesOfCrd(crd, {
      convert: async (objects, desired, webhook) => {
        asked.push(desired, webhook);
        return objects.map((object) => ({
          ...object,
          apiVersion: desired,
          metadata: { name: 'renamed', labels: { by: 'webhook' } },
        }));
      },
    }) as [Resource, Resource];
    const [converted] = await second.conversion!.fromStorage([widget({ size: 1 })]);
    expect(asked).toEqual(['example.com/v2', { clientConfig: { url: 'https://x' } }]);
    expect(converted!.metadata).toEqual({ name: 'a', namespace: 'x', labels: { by: 'webhook' } });
  });

  it('says why a webhook failed', async () => {
    const crd = widgetCrd({ conversion: { strategy: 'Webhook', webhook: {} } });
    const [, second] = resourcesOfCrd(crd, {
      convert: async () => {
        throw new Error('connection refused');
      },
    }) as [Resource, Resource];
    await expect(async () => second.conversion!.fromStorage([widget({ size: 1 })])).rejects.toThrow(
      'conversion webhook for example.com/v1, Kind=Widget failed: connection refused',
    );
  });

  it('publishes what int-or-string means', () => {
    const definitions = v1.openApiDefinitions!();
    expect(Object.keys(definitions)).toEqual(['com.example.v1.Widget', 'com.example.v1.WidgetList']);
    expect(definitions['com.example.v1.Widget']).toMatchObject({
      properties: {
        metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
        spec: { properties: { ios: { anyOf: [{ type: 'integer' }, { type: 'string' }] } } },
      },
      'x-kubernetes-group-version-kind': [{ group: 'example.com', kind: 'Widget', version: 'v1' }],
      'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.color' }],
    });
  });

  it('warns about finalizers built-in kinds would refuse', () => {
    const object = widget({ size: 1 });
    object.metadata.finalizers = ['nodomain'];
    expect(v1.strategy.warnings(object, undefined)).toEqual([
      'metadata.finalizers: "nodomain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ]);
    expect(v1.strategy.warnings(object, object)).toEqual([]);
  });
});
