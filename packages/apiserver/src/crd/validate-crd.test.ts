import { beforeAll, describe, expect, it } from 'vitest';
import { asObject } from '../kinds/json-access.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { StrategyContext } from '../resource.ts';
import { acceptNames, crdStrategy } from './crd-strategy.ts';
import { widgetCrd } from './widget-fixture.ts';
import { loadCel } from '../cel/late-cel.ts';

beforeAll(() => loadCel());

const context = {} as StrategyContext;

function problems(crd: ApiObject): string[] {
  crdStrategy.applyDefaults(crd);
  crdStrategy.prepareForCreate(crd, context);
  return crdStrategy.validate(crd, context).map((error) => `${error.field}: ${error.detail}`);
}

function withSchema(openAPIV3Schema: JsonObject): ApiObject {
  return widgetCrd({ versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] });
}

function withSpec(spec: JsonObject): ApiObject {
  return withSchema({ type: 'object', properties: { spec } });
}

const at = 'spec.validation.openAPIV3Schema.properties[spec]';

describe('a new CRD', () => {
  it('gets what the server fills in', () => {
    const crd = widgetCrd();
    expect(problems(crd)).toEqual([]);
    expect(crd['spec']).toMatchObject({ names: { listKind: 'WidgetList' }, conversion: { strategy: 'None' } });
    expect(crd['status']).toEqual({
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    });
  });

  it('has to be named after its resource', () => {
    const crd = widgetCrd();
    crd.metadata.name = 'foo.bar';
    expect(problems(crd)).toEqual([
      'metadata.name: Invalid value: "foo.bar": must be spec.names.plural+"."+spec.group',
    ]);
  });

  it('stores exactly one version', () => {
    const versions = [1, 2].map((number) => ({
      name: `v${number}`,
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object' } },
    }));
    const printed = (name: string) =>
      `{"Name":"${name}","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}`;
    expect(problems(widgetCrd({ versions }))).toEqual([
      `spec.versions: Invalid value: [${printed('v1')},${printed('v2')}]: must have exactly one version marked as storage version`,
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
    ]);
  });

  it('says the type of everything', () => {
    expect(problems(withSpec({ properties: { a: {} } }))).toEqual([
      `${at}.properties[a].type: Required value: must not be empty for specified object fields`,
      `${at}.type: Required value: must not be empty for specified object fields`,
    ]);
  });

  it('names the version when schemas differ', () => {
    const crd = widgetCrd();
    const versions = (crd['spec'] as { versions: { schema: { openAPIV3Schema: JsonObject } }[] }).versions;
    versions[1]!.schema = { openAPIV3Schema: { type: 'object', properties: { a: {} } } };
    expect(problems(crd)).toEqual([
      'spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
    ]);
  });

  it.each<[string, JsonObject, string]>([
    [
      'a default that is no valid value',
      { type: 'object', properties: { a: { type: 'integer', default: 'x' } } },
      `${at}.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"`,
    ],
    [
      'a default with unknown fields',
      { type: 'object', default: { b: 1 }, properties: { a: { type: 'integer' } } },
      `${at}.default: Invalid value: {"b":1}: must not have unknown fields`,
    ],
    [
      'a list key that may be missing',
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: { type: 'string' } } },
      },
      `${at}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
    [
      'a look-ahead in a pattern',
      { type: 'string', pattern: '(?=a)' },
      `${at}.pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
    ],
    [
      'properties beside additionalProperties',
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
      `${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
    ],
    [
      'a type inside anyOf',
      { type: 'string', anyOf: [{ type: 'string' }] },
      `${at}.anyOf[0].type: Forbidden: must be empty to be structural`,
    ],
    [
      'a rule about a field that does not exist',
      { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-validations': [{ rule: 'self.b > 1' }] },
      `${at}.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b \\u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b > 1\n | ....^`,
    ],
    [
      'a rule over an unbounded list of unbounded texts',
      {
        type: 'object',
        properties: { tags: { type: 'array', items: { type: 'string' } }, prefix: { type: 'string' } },
        'x-kubernetes-validations': [{ rule: 'self.tags.all(t, t.startsWith(self.prefix))' }],
      },
      `${at}.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`,
    ],
    [
      'a transition rule inside a list that cannot be followed',
      {
        type: 'array',
        maxItems: 5,
        items: { type: 'string', maxLength: 5, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
      },
      `${at}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${at}`,
    ],
    [
      'a field path that leads nowhere',
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        'x-kubernetes-validations': [{ rule: 'has(self.a)', fieldPath: '.nope' }],
      },
      `${at}.x-kubernetes-validations[0].fieldPath: Invalid value: ".nope": must be a valid path`,
    ],
  ])('is refused for %s', (_what, spec, expected) => {
    expect(problems(withSpec(spec))[0]).toBe(expected);
  });

  it.each<[string, JsonObject]>([
    [
      'a cheap rule below lists without a bound, as Prometheus has',
      {
        type: 'array',
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: { a: { type: 'string' }, b: { type: 'string' } },
            'x-kubernetes-validations': [{ rule: '!has(self.a) || has(self.b)' }],
          },
        },
      },
    ],
    [
      'an expression for the keys of maps, as Istio has',
      {
        type: 'array',
        maxItems: 4096,
        items: {
          type: 'object',
          maxProperties: 128,
          additionalProperties: { type: 'integer' },
          'x-kubernetes-validations': [
            { rule: 'self.all(key, size(key) < 63 && key.matches("^[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?$"))' },
          ],
        },
      },
    ],
  ])('may have %s', (_, schema) => {
    expect(problems(withSpec(schema))).toEqual([]);
  });

  it('cannot select by what is no simple value', () => {
    const crd = withSpec({ type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } });
    const version = (crd['spec'] as { versions: JsonObject[] }).versions[0]!;
    version['selectableFields'] = [{ jsonPath: '.spec.list' }, { jsonPath: '.spec.nope' }];
    expect(problems(crd)).toEqual([
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.list": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[1].jsonPath: Invalid value: ".spec.nope": is an invalid path: does not refer to a valid field',
    ]);
  });
});

describe('names', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const accepted = (crd: ApiObject): ApiObject => {
    crdStrategy.applyDefaults(crd);
    crdStrategy.prepareForCreate(crd, context);
    return acceptNames(crd, [], now)!;
  };

  it('are accepted at once when nobody has them', () => {
    const crd = accepted(widgetCrd());
    expect(crd['status']).toEqual({
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        },
        {
          type: 'Established',
          status: 'True',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ],
      acceptedNames: {
        plural: 'widgets',
        singular: 'widget',
        shortNames: ['wd'],
        kind: 'Widget',
        listKind: 'WidgetList',
        categories: ['all'],
      },
      storedVersions: ['v1'],
    });
    expect(acceptNames(crd, [], now + 1000)).toBeUndefined();
  });

  it('are refused when another CRD of the group has one of them', () => {
    const first = accepted(widgetCrd());
    const second = widgetCrd({ names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['wd'] } });
    second.metadata.name = 'gadgets.example.com';
    crdStrategy.applyDefaults(second);
    crdStrategy.prepareForCreate(second, context);
    const result = acceptNames(second, [first], now)!;
    expect(asObject(result['status'])!['conditions']).toMatchObject([
      { type: 'NamesAccepted', status: 'False', reason: 'ShortNamesConflict', message: '"wd" is already in use' },
      { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ]);
  });

  it('cannot change once established, and a storage version is never forgotten', () => {
    const before = accepted(widgetCrd());
    const next = structuredClone(before);
    const spec = next['spec'] as { names: JsonObject; scope: string; versions: JsonObject[] };
    spec.scope = 'Cluster';
    spec.versions = spec.versions.slice(1);
    spec.versions[0]!['storage'] = true;
    crdStrategy.prepareForUpdate(next, before, context);
    expect(next['status']).toMatchObject({ storedVersions: ['v1', 'v2'] });
    expect(crdStrategy.validateUpdate(next, before, context).map((error) => `${error.field}: ${error.detail}`)).toEqual(
      [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
      ],
    );
  });
});
