import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Resource, StrategyContext } from '../resource.ts';
import { crdStrategy } from './crd-strategy.ts';
import { resourcesOfCrd } from './custom-resources.ts';
import { widgetCrd } from './widget-fixture.ts';
import { loadCel } from '../cel/late-cel.ts';

beforeAll(() => loadCel());

const context = {} as StrategyContext;
const [v1] = resourcesOfCrd(widgetCrd()) as [Resource];

const spec = fc.record(
  {
    size: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.jsonValue()),
    color: fc.oneof(fc.constantFrom('red', 'green', null), fc.jsonValue()),
    tags: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
    ports: fc.oneof(fc.array(fc.record({ port: fc.integer(), proto: fc.string() })), fc.jsonValue()),
    nested: fc.jsonValue(),
    lo: fc.oneof(fc.integer(), fc.jsonValue()),
    hi: fc.oneof(fc.integer(), fc.jsonValue()),
    when: fc.oneof(fc.string(), fc.jsonValue()),
    ios: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

function widget(content: unknown): ApiObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: content };
}

it('never throws on any content, and fills defaults only once', () => {
  fc.assert(
    fc.property(fc.oneof(spec, fc.jsonValue()), (content) => {
      const object = widget(structuredClone(content));
      v1.strategy.applyDefaults(object);
      const once = structuredClone(object);
      v1.strategy.applyDefaults(object);
      expect(object).toEqual(once);
      expect(Array.isArray(v1.strategy.validate(object, context))).toBe(true);
      v1.strategy.cells(object, 0);
    }),
    { numRuns: 300 },
  );
});

it('lets an unchanged object pass as an update, whatever is wrong with it', () => {
  fc.assert(
    fc.property(spec, (content) => {
      const object = widget(structuredClone(content));
      v1.strategy.applyDefaults(object);
      const reasons = v1.strategy
        .validateUpdate(structuredClone(object), object, context)
        .filter((error) => !error.field.startsWith('.spec.size'));
      expect(reasons.filter((error) => error.field !== '<nil>')).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

it('never throws on any schema', () => {
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: false },
      fc.record({
        type: fc.constantFrom('string', 'integer', 'nope'),
        default: fc.jsonValue({ maxDepth: 1 }),
      }) as fc.Arbitrary<JsonObject>,
      fc.record({
        type: fc.constantFrom('object', 'string'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'metadata', 'constructor', '__proto__'), tie('schema'), {
          maxKeys: 2,
        }),
        'x-kubernetes-validations': fc.array(
          fc.record({ rule: fc.constantFrom('self.a == 1', 'has(self.b)', 'size(self) > 0', '(') }),
          { maxLength: 1 },
        ),
      }) as fc.Arbitrary<JsonObject>,
      fc.record({
        type: fc.constant('array'),
        items: tie('schema'),
        'x-kubernetes-list-type': fc.constantFrom('set', 'map', 'odd'),
      }) as fc.Arbitrary<JsonObject>,
      fc.record({ type: fc.constant('object'), additionalProperties: tie('schema') }) as fc.Arbitrary<JsonObject>,
      fc.record({
        type: fc.constant('string'),
        pattern: fc.string({ maxLength: 8 }),
        anyOf: fc.array(tie('schema'), { maxLength: 2 }),
      }) as fc.Arbitrary<JsonObject>,
    ),
  }));
  fc.assert(
    fc.property(schema, (openAPIV3Schema) => {
      const crd = widgetCrd({ versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] });
      crdStrategy.applyDefaults(crd);
      crdStrategy.prepareForCreate(crd, context);
      expect(Array.isArray(crdStrategy.validate(crd, context))).toBe(true);
    }),
    { numRuns: 100 },
  );
});
