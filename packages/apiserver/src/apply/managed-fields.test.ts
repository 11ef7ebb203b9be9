import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.ts';
import type { ApiObject, ManagedFields } from '../object.ts';
import { builtinDefinition, builtinSchema } from '../schema/builtin.ts';
import { schemaFromOpenApi } from '../schema/from-openapi.ts';
import type { Schema } from '../schema/schema.ts';
import { addZeroValues } from '../schema/zero-values.ts';
import { applyConfiguration, trackUpdate, withStoredTimes } from './managed-fields.ts';
import { trackScale } from './scale.ts';

const deploymentSchema = builtinSchema('apps', 'v1', 'Deployment') as Schema;
const widgetSchema = schemaFromOpenApi(
  {
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { $ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          color: { type: 'string' },
          tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
          ports: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['port', 'proto'],
            items: {
              type: 'object',
              properties: {
                port: { type: 'integer' },
                proto: { type: 'string', default: 'TCP' },
                name: { type: 'string' },
              },
            },
          },
          plain: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
          conf: {
            type: 'object',
            'x-kubernetes-map-type': 'atomic',
            additionalProperties: { type: 'string' },
          },
          opts: { type: 'object', additionalProperties: { type: 'string' } },
          raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
      status: { type: 'object', properties: { n: { type: 'integer' } } },
    },
  },
  (name) => builtinDefinition(name) as Schema,
);

const apiVersion = 'ex.com/v1';
const now = '2026-01-01T00:00:00Z';

function widget(spec: object, metadata: object = {}): ApiObject {
  return { apiVersion, kind: 'Widget', metadata: { name: 'w', ...metadata }, spec };
}

function apply(
  live: ApiObject | undefined,
  spec: object,
  options: { manager?: string; force?: boolean; now?: string } = {},
): ApiObject {
  const applied = applyConfiguration({
    live,
    config: widget(spec),
    schema: widgetSchema,
    custom: true,
    manager: options.manager ?? 'one',
    apiVersion,
    force: options.force ?? false,
    now: options.now ?? now,
    resetFields: [['status']],
    finish: (merged) => merged,
  });
  return { ...applied, metadata: { uid: 'u', ...applied.metadata } };
}

function update(live: ApiObject | undefined, next: ApiObject, manager = 'upd', at = now): ApiObject {
  const managedFields = trackUpdate({
    live,
    next,
    schema: widgetSchema,
    custom: true,
    manager,
    apiVersion,
    now: at,
    resetFields: [['status']],
  });
  return { ...next, metadata: { uid: 'u', ...next.metadata, managedFields } };
}

function entry(object: ApiObject, manager: string): ManagedFields | undefined {
  return object.metadata.managedFields?.find((one) => one.manager === manager);
}

function failure(run: () => unknown): ApiError {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('trackUpdate', () => {
  it('gives the creator of a custom resource every field, with the nodes themselves', () => {
    const created = update(
      undefined,
      widget({ size: 1, ports: [{ port: 1 }], tags: ['t'], conf: { a: '1' }, opts: { b: '2' } }),
    );
    expect(created.metadata.managedFields).toEqual([
      {
        manager: 'upd',
        operation: 'Update',
        apiVersion,
        time: now,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:spec': {
            '.': {},
            'f:conf': {},
            'f:opts': { '.': {}, 'f:b': {} },
            'f:ports': { '.': {}, 'k:{"port":1,"proto":"TCP"}': { '.': {}, 'f:port': {} } },
            'f:size': {},
            'f:tags': { '.': {}, 'v:"t"': {} },
          },
        },
      },
    ]);
  });

  it('leaves out of a built-in what the Go zero value already has', () => {
    const next = addZeroValues(
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', labels: { a: 'b' } },
        spec: {
          replicas: 1,
          selector: { matchLabels: { a: 'b' } },
          strategy: { type: 'Recreate' },
          template: {
            metadata: { labels: { a: 'b' } },
            spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, protocol: 'TCP' }] }] },
          },
        },
      },
      deploymentSchema,
    );
    const [created] = trackUpdate({
      live: undefined,
      next,
      schema: deploymentSchema,
      custom: false,
      manager: 'unknown',
      apiVersion: 'apps/v1',
      now,
      resetFields: [['status']],
    });
    expect(created?.fieldsV1).toEqual({
      'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
      'f:spec': {
        'f:replicas': {},
        'f:selector': {},
        'f:strategy': { 'f:type': {} },
        'f:template': {
          'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
          'f:spec': {
            'f:containers': {
              'k:{"name":"c"}': {
                '.': {},
                'f:image': {},
                'f:name': {},
                'f:ports': {
                  '.': {},
                  'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
                },
                'f:resources': {},
              },
            },
          },
        },
      },
    });
  });

  it('moves ownership to who changes a value and keeps the time of who does not', () => {
    const first = update(undefined, widget({ size: 1, color: 'red' }), 'a');
    const second = update(first, { ...first, spec: { size: 2, color: 'red' } }, 'b', '2026-01-01T00:00:09Z');
    expect(entry(second, 'a')).toMatchObject({ time: now, fieldsV1: { 'f:spec': { '.': {}, 'f:color': {} } } });
    expect(entry(second, 'b')).toMatchObject({
      time: '2026-01-01T00:00:09Z',
      fieldsV1: { 'f:spec': { 'f:size': {} } },
    });
  });

  it('does not touch anything when nothing changes', () => {
    const first = update(undefined, widget({ size: 1 }), 'a');
    expect(update(first, first, 'b', '2026-01-01T00:00:09Z')).toEqual(first);
  });

  it('never owns what the endpoint resets', () => {
    const created = update(undefined, { ...widget({ size: 1 }), status: { n: 1 } });
    expect(entry(created, 'upd')?.fieldsV1).toEqual({ 'f:spec': { '.': {}, 'f:size': {} } });
  });

  it('forgets everybody when managedFields is reset, and stays untracked until the first apply', () => {
    const first = update(undefined, widget({ size: 1 }), 'a');
    const reset = update(first, { ...first, metadata: { ...first.metadata, managedFields: [{}] } }, 'b');
    expect(reset.metadata.managedFields).toEqual([]);
    expect(update(reset, { ...reset, spec: { size: 2 } }, 'b').metadata.managedFields).toEqual([]);
    const applied = apply(reset, { color: 'red' }, { manager: 'one' });
    expect(entry(applied, 'before-first-apply')).toMatchObject({
      operation: 'Update',
      fieldsV1: { 'f:spec': { '.': {}, 'f:size': {} } },
    });
    expect(entry(applied, 'one')?.fieldsV1).toEqual({ 'f:spec': { 'f:color': {} } });
  });

  it('folds the oldest of more than ten updaters into ancient-changes', () => {
    let object = update(undefined, widget({ opts: { m0: '0' } }), 'm0', '2026-01-01T00:00:00Z');
    for (let index = 1; index <= 11; index += 1) {
      const opts = { ...(object['spec'] as { opts: object }).opts, [`m${index}`]: '1' };
      const at = `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`;
      object = update(object, { ...object, spec: { opts } }, `m${index}`, at);
    }
    const names = object.metadata.managedFields?.map(({ manager }) => manager);
    expect(names).toHaveLength(10);
    expect(names?.[0]).toBe('ancient-changes');
    expect(entry(object, 'ancient-changes')?.fieldsV1).toMatchObject({
      'f:spec': { 'f:opts': { 'f:m0': {}, 'f:m1': {}, 'f:m2': {} } },
    });
    expect(entry(object, 'ancient-changes')?.time).toBe('2026-01-01T00:00:02Z');
  });

  it('keeps stored times when nothing else differs', () => {
    const first = update(undefined, widget({ size: 1 }), 'a');
    const later = structuredClone(first);
    for (const one of later.metadata.managedFields ?? []) one.time = '2027-01-01T00:00:00Z';
    expect(withStoredTimes(later, first)).toEqual(first);
    expect(withStoredTimes({ ...later, spec: { size: 2 } }, first).metadata.managedFields?.[0]?.time).toMatch(/^2027/);
  });
});

describe('applyConfiguration', () => {
  it('creates, then changes nothing when applied again', () => {
    const created = apply(undefined, { size: 1, ports: [{ port: 80, name: 'http' }] });
    expect(apply(created, { size: 1, ports: [{ port: 80, name: 'http' }] }, { now: '2027-01-01T00:00:00Z' })).toEqual(
      created,
    );
  });

  it('lets two managers own disjoint parts and equal values together', () => {
    const created = apply(undefined, { size: 1, ports: [{ port: 80, proto: 'TCP', name: 'http' }], tags: ['t1'] });
    const both = apply(created, { size: 1, ports: [{ port: 443, name: 'https' }], tags: ['t2'] }, { manager: 'two' });
    expect(both['spec']).toEqual({
      size: 1,
      ports: [
        { port: 80, proto: 'TCP', name: 'http' },
        { port: 443, name: 'https' },
      ],
      tags: ['t1', 't2'],
    });
    expect(entry(both, 'one')?.fieldsV1).toMatchObject({ 'f:spec': { 'f:size': {} } });
    expect(entry(both, 'two')?.fieldsV1).toMatchObject({ 'f:spec': { 'f:size': {} } });
  });

  it('names conflicts as the real server does', () => {
    const created = apply(undefined, { size: 1, opts: { a: '1' } });
    const error = failure(() => apply(created, { size: 2, opts: { a: '2' } }, { manager: 'two' }));
    expect(error.status).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.size\n- .spec.opts.a',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.size' },
          { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.opts.a' },
        ],
      },
    });
    const updated = update(created, { ...created, spec: { size: 5, opts: { a: '1' } } }, 'upd');
    expect(failure(() => apply(updated, { size: 1, opts: { a: '1' } })).message).toBe(
      'Apply failed with 1 conflict: conflict with "upd" using ex.com/v1: .spec.size',
    );
  });

  it('takes over with force', () => {
    const created = apply(undefined, { size: 1 });
    const forced = apply(created, { size: 2 }, { manager: 'two', force: true });
    expect(forced['spec']).toEqual({ size: 2 });
    expect(forced.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['two']);
  });

  it('removes what the manager no longer mentions, unless somebody else owns it', () => {
    const created = apply(undefined, { size: 1, color: 'red', ports: [{ port: 1 }, { port: 2 }], opts: { a: '1' } });
    const shared = apply(created, { ports: [{ port: 2 }] }, { manager: 'two' });
    const less = apply(shared, { size: 1 });
    expect(less['spec']).toEqual({ size: 1, ports: [{ port: 2 }] });
    const none = apply(less, {});
    expect(none['spec']).toEqual({ ports: [{ port: 2 }] });
    expect(entry(none, 'one')?.fieldsV1 ?? {}).toEqual({ 'f:spec': {} });
  });

  it('refuses fields and elements that break the schema with a 500 without reason', () => {
    expect(failure(() => apply(undefined, { nope: 1 })).status).toMatchObject({
      code: 500,
      message:
        'failed to create typed patch object (/w; ex.com/v1, Kind=Widget): .spec.nope: field not declared in schema',
    });
    expect(failure(() => apply(undefined, { ports: [{ port: 1 }, { port: 1, proto: 'TCP' }] })).message).toBe(
      'failed to create typed patch object (/w; ex.com/v1, Kind=Widget): .spec.ports: duplicate entries for key [port=1,proto="TCP"]',
    );
    expect(failure(() => apply(undefined, { size: 'big' })).message).toContain(
      '.spec.size: expected numeric (int or float), got string',
    );
  });

  it('refuses managedFields and foreign kinds in the config', () => {
    const write = {
      live: undefined,
      schema: widgetSchema,
      custom: true,
      manager: 'one',
      apiVersion,
      force: false,
      now,
      finish: (merged: ApiObject) => merged,
    };
    expect(
      failure(() => applyConfiguration({ ...write, config: widget({}, { managedFields: [] }) })).status,
    ).toMatchObject({ code: 400, message: 'metadata.managedFields must be nil' });
    expect(
      failure(() => applyConfiguration({ ...write, config: { ...widget({}), apiVersion: 'ex.com/v2' } })).message,
    ).toBe('invalid object type: ex.com/v2, Kind=Widget');
  });

  it('keeps the order of the stored list and puts new elements where the config anchors them', () => {
    const port = (...ports: number[]): object => ({ ports: ports.map((one) => ({ port: one })) });
    const portsOf = (object: ApiObject): number[] =>
      (object['spec'] as { ports: { port: number }[] }).ports.map((one) => one.port);
    const created = apply(undefined, port(1, 2, 3), { manager: 'base' });
    expect(portsOf(apply(created, port(4, 2)))).toEqual([1, 4, 2, 3]);
    expect(portsOf(apply(created, port(3, 1)))).toEqual([2, 3, 1]);
    expect(portsOf(apply(created, port(9)))).toEqual([1, 2, 3, 9]);
  });

  it('lets kubectl take over what it applied client-side', () => {
    const lastApplied = JSON.stringify(widget({ size: 1 }));
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': lastApplied };
    const created = update(undefined, widget({ size: 1, color: 'red' }, { annotations }), 'kubectl-client-side-apply');
    const applied = apply(created, { size: 2 }, { manager: 'kubectl' });
    expect(applied['spec']).toEqual({ size: 2, color: 'red' });
    expect(JSON.parse(Object.values(applied.metadata.annotations ?? {})[0] ?? '')).toEqual(widget({ size: 2 }));
    expect(failure(() => apply(created, { color: 'blue' }, { manager: 'kubectl' })).status.code).toBe(409);
  });
});

describe('trackScale', () => {
  it('hands the replicas to the scaler, without a time', () => {
    const created = update(undefined, widget({ size: 1, color: 'red' }), 'app');
    const entries = trackScale({
      live: created,
      next: { ...created, spec: { size: 5, color: 'red' } },
      manager: 'hpa',
      apiVersion,
      replicasPath: ['spec', 'size'],
    });
    expect(entries).toEqual([
      {
        manager: 'hpa',
        operation: 'Update',
        apiVersion,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:size': {} } },
        subresource: 'scale',
      },
      { ...entry(created, 'app'), fieldsV1: { 'f:spec': { '.': {}, 'f:color': {} } } },
    ]);
  });
});

describe('properties of apply', () => {
  const text = fc.constantFrom('a', 'b', 'c');
  const spec = fc.record(
    {
      size: fc.integer({ min: 0, max: 3 }),
      color: text,
      tags: fc.uniqueArray(text, { maxLength: 3 }),
      ports: fc.uniqueArray(
        fc.record({ port: fc.integer({ min: 1, max: 3 }), name: text }, { requiredKeys: ['port'] }),
        { maxLength: 3, selector: ({ port }) => port },
      ),
      plain: fc.array(fc.record({ a: text }), { maxLength: 2 }),
      conf: fc.dictionary(text, text, { maxKeys: 2 }),
      opts: fc.dictionary(text, text, { maxKeys: 2 }),
      raw: fc.dictionary(text, fc.oneof(text, fc.array(text), fc.dictionary(text, text)), { maxKeys: 2 }),
    },
    { requiredKeys: [] },
  );

  it('applying twice is applying once', () => {
    fc.assert(
      fc.property(spec, spec, (base, config) => {
        const live = update(undefined, widget(base), 'base');
        const once = apply(live, config, { force: true });
        expect(apply(once, config, { now: '2027-01-01T00:00:00Z' })).toEqual(once);
      }),
    );
  });

  it('the result holds every scalar of the config', () => {
    fc.assert(
      fc.property(spec, spec, (base, config) => {
        const once = apply(update(undefined, widget(base), 'base'), config, { force: true });
        const result = once['spec'] as Record<string, unknown>;
        if (config.size !== undefined) expect(result['size']).toBe(config.size);
        if (config.color !== undefined) expect(result['color']).toBe(config.color);
        if (config.plain !== undefined) expect(result['plain']).toEqual(config.plain);
        for (const tag of config.tags ?? []) expect(result['tags']).toContain(tag);
      }),
    );
  });

  it('un-applying what only this manager brought restores what was there', () => {
    const scalars = fc.record({ size: fc.integer(), color: text, conf: fc.dictionary(text, text, { minKeys: 1 }) });
    fc.assert(
      fc.property(scalars, fc.dictionary(text, text, { minKeys: 1, maxKeys: 3 }), (base, opts) => {
        const live = update(undefined, widget(base), 'base');
        const applied = apply(live, { opts, ports: [{ port: 1 }] });
        const undone = apply(applied, {});
        expect(undone['spec']).toEqual(base);
        expect(entry(undone, 'base')).toEqual(entry(live, 'base'));
      }),
    );
  });

  it('never lets a field go unowned by the applier that wrote it', () => {
    fc.assert(
      fc.property(spec, spec, (base, config) => {
        const once = apply(update(undefined, widget(base), 'base'), config, { force: true });
        const mine = entry(once, 'one');
        if (Object.keys(config).length > 0) expect(mine).toBeDefined();
        for (const name of Object.keys(config)) {
          const value = config[name as keyof typeof config];
          const empty = Array.isArray(value) && value.length === 0 && name !== 'plain';
          if (!empty) expect(mine?.fieldsV1?.['f:spec']).toHaveProperty([`f:${name}`]);
        }
      }),
    );
  });
});
