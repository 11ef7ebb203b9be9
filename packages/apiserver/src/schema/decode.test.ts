import { beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.ts';
import { builtinDefinition } from './builtin.ts';
import { schemaFromOpenApi } from './from-openapi.ts';
import type { Schema } from './schema.ts';
import { conformBody, conformCustomBody, decodeBody, strictErrorsOf } from './decode.ts';
import { loadYaml } from './yaml-text.ts';

beforeAll(() => loadYaml());

const configMap = { group: '', version: 'v1', kind: 'ConfigMap', custom: false };
const deployment = { group: 'apps', version: 'v1', kind: 'Deployment', custom: false };
const widget = { group: 'ex.com', version: 'v1', kind: 'Widget', custom: true };

function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.code} ${error.message}`;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('decodeBody', () => {
  it('fills in apiVersion and kind of a built-in', () => {
    const { object } = decodeBody(bytes('{"metadata":{"name":"a"}}'), 'application/json', configMap);
    expect(object).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  });

  it('answers broken JSON as the real server', () => {
    expect(messageOf(() => decodeBody(bytes('{"apiVersion":"v1",'), 'application/json', configMap))).toBe(
      `400 the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({"apiVersion":"v1",)`,
    );
    expect(messageOf(() => decodeBody(bytes(''), 'application/json', configMap))).toBe(
      `400 the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)`,
    );
  });

  it('answers a foreign kind and a foreign version', () => {
    expect(
      messageOf(() => decodeBody(bytes('{"apiVersion":"v1","kind":"Secret"}'), 'application/json', configMap)),
    ).toBe(
      '400 Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    );
    expect(
      messageOf(() => decodeBody(bytes('{"apiVersion":"apps/v1","kind":"ConfigMap"}'), 'application/json', configMap)),
    ).toBe(
      '400 ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:111"',
    );
  });

  it('lists fields named twice', () => {
    const body = bytes('{"metadata":{"name":"a","name":"b"},"data":{"x":"\\"}{","x":"2"},"l":[{"k":1},{"k":1,"k":2}]}');
    const { duplicateFields, object } = decodeBody(body, 'application/json', configMap);
    expect(duplicateFields).toEqual(['metadata.name', 'data.x', 'l[1].k']);
    expect(object.metadata.name).toBe('b');
  });

  it('tells repeated and unknown fields of a built-in in the order of the document', () => {
    const text = '{"metadata":{"name":"s","foo":1,"name":"s"},"bar":1,"data":{"a":"1","a":"2"},"baz":{"x":1}}';
    const body = decodeBody(bytes(text), 'application/json', configMap);
    const { unknownFields } = conformBody(body.object, configMap);
    expect(strictErrorsOf(body, unknownFields, false)).toEqual([
      'unknown field "metadata.foo"',
      'duplicate field "metadata.name"',
      'unknown field "bar"',
      'duplicate field "data.a"',
      'unknown field "baz"',
    ]);
  });

  it('reads YAML by the rules of version 1.1', () => {
    const text = 'metadata:\n  name: y\ndata:\n  a: yes\n  b: "yes"\n  c: 2020-01-01\n  d: 1:30\n  e: 010\n  f: 0x10\n';
    const { object } = decodeBody(bytes(text), 'application/yaml', configMap);
    expect(object.metadata.name).toBe(true);
    expect(object['data']).toEqual({ a: true, b: 'yes', c: '2020-01-01', d: '1:30', e: 8, f: 16 });
  });

  it.each<[string, unknown]>([
    ['0o17', 15],
    ['1_000', 1000],
    ['-0x1F', -31],
    ['.5', 0.5],
    ['9007199254740993', JSON.parse('{"rawJSON":"9007199254740993"}')],
    ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'],
    ['12:30:45', '12:30:45'],
    ['08', 8],
    ['!!str 12', '12'],
    ['!mine text', 'text'],
    ['!!binary aGk=', 'hi'],
    ['{<<: {a: 1, b: 1}, b: 2}', { a: 1, b: 2 }],
    ['{b: 2, <<: [{b: 3}, {b: 4, c: 5}]}', { b: 3, c: 5 }],
    ['{1: a, true: b, 1.5: c}', { '1': 'a', true: 'b', '1.5': 'c' }],
    ['{__proto__: {a: b}}', JSON.parse('{"__proto__":{"a":"b"}}')],
  ])('reads the YAML %s as Go does', (text, value) => {
    const { object } = decodeBody(bytes(`spec: ${text}\n`), 'application/yaml', configMap);
    expect(object['spec']).toEqual(value);
  });

  it('gives every alias a value of its own, and refuses a text in which they multiply', () => {
    const { object } = decodeBody(bytes('a: &x {k: v}\nb: *x\n'), 'application/yaml', configMap);
    expect(object['b']).toEqual({ k: 'v' });
    expect(object['b']).not.toBe(object['a']);
    const levels = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level}, `.repeat(9)}]`,
    );
    const laughs = ['l0: &l0 [lol]', ...levels].join('\n');
    expect(messageOf(() => decodeBody(bytes(laughs), 'application/yaml', configMap))).toContain('excessive aliasing');
  });

  it('reports keys that stand twice in YAML, and takes the last', () => {
    const { strictErrors, object } = decodeBody(bytes('data:\n  a: "1"\n  a: "2"\n'), 'application/yaml', configMap);
    expect(strictErrors).toEqual(['yaml: unmarshal errors:\n  line 3: key "a" already set in map']);
    expect(object['data']).toEqual({ a: '2' });
  });

  it('refuses other media types with the list of those it takes', () => {
    expect(messageOf(() => decodeBody(bytes('x'), 'text/plain', configMap))).toBe(
      '415 the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });

  it('wants the kind of a custom resource to be named', () => {
    const text = '{"metadata":{"name":"k"},"spec":{"size":1}}';
    expect(messageOf(() => decodeBody(bytes(text), 'application/json', widget))).toBe(
      `400 the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '${text}' ({"metadata":{"name":"k"},"spec ...)`,
    );
  });

  it('looks at the kind of a custom resource before anything else, and at its version', () => {
    expect(messageOf(() => decodeBody(bytes('[]'), 'application/json', widget))).toBe(
      `400 the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)`,
    );
    expect(messageOf(() => decodeBody(bytes('{"kind":"Widget"}'), 'application/json', widget))).toBe(
      '400 the API version in the data () does not match the expected API version (ex.com/v1)',
    );
  });

  it('reads the metadata of a custom resource into its Go struct', () => {
    const schema = schemaFromOpenApi(
      {
        type: 'object',
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          metadata: { $ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
          spec: { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
      (name) => builtinDefinition(name) as Schema,
    );
    const typeMeta = { apiVersion: 'ex.com/v1', kind: 'Widget' };
    const metadata = { name: 'w', labels: {}, finalizers: [], annotations: null, foo: 1 };
    const conformed = conformCustomBody({ ...typeMeta, metadata, spec: { zz: 1, a: '1' } } as never, schema, widget);
    expect(conformed).toEqual({
      object: { ...typeMeta, metadata: { name: 'w' }, spec: { a: '1' } },
      unknownFields: ['metadata.foo', 'spec.zz'],
    });
    const wrong = (value: unknown): string =>
      messageOf(() => conformCustomBody({ ...typeMeta, metadata: value } as never, schema, widget));
    expect(wrong({ labels: { x: 1 } })).toBe(
      '400 Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    );
    expect(wrong('x')).toBe(
      '400 Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal string into Go value of type v1.ObjectMeta',
    );
  });

  it('survives nesting that would exhaust the stack', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const type of ['application/json', 'application/yaml']) {
      expect(messageOf(() => decodeBody(bytes(`{"a":${deep}}`), type, configMap))).toContain('exceeded max depth');
    }
    const block = Array.from({ length: 1500 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
    expect(messageOf(() => decodeBody(bytes(block), 'application/yaml', configMap))).toContain('400');
  });
});

describe('conformBody', () => {
  it('says which value has the wrong type, in Go words', () => {
    const wrong = (object: object): string =>
      messageOf(() => conformBody({ metadata: {}, ...object }, deployment)).replace(
        '400 Deployment in version "v1" cannot be handled as a Deployment: ',
        '',
      );
    expect(wrong({ spec: { replicas: '3' } })).toBe(
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
    expect(wrong({ spec: { replicas: 1.5 } })).toBe(
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
    expect(wrong({ spec: { template: { spec: { containers: { name: 'x' } } } } })).toBe(
      'json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
    );
    expect(wrong({ spec: { template: { spec: { restartPolicy: 1 } } } })).toBe(
      'json: cannot unmarshal number into Go struct field PodSpec.spec.template.spec.restartPolicy of type v1.RestartPolicy',
    );
    expect(wrong({ spec: { template: { spec: { volumes: [{ secret: { defaultMode: 'x' } }] } } } })).toBe(
      'json: cannot unmarshal string into Go struct field SecretVolumeSource.spec.template.spec.volumes.VolumeSource.secret.defaultMode of type int32',
    );
    const securityContext = { capabilities: { add: [1] } };
    expect(wrong({ spec: { template: { spec: { containers: [{ securityContext }] } } } })).toBe(
      'json: cannot unmarshal number into Go struct field Capabilities.spec.template.spec.containers.securityContext.capabilities.add of type v1.Capability',
    );
    expect(wrong({ metadata: { labels: [] } })).toBe(
      'json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    );
    expect(wrong({ metadata: { creationTimestamp: 'yesterday' } })).toBe(
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    );
  });

  it('drops unknown fields, nulls and empty optional values and adds what Go always prints', () => {
    const { object, unknownFields } = conformBody(
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', labels: {}, foo: 1 },
        spec: {
          replicas: 0,
          paused: false,
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { b: '1', a: '2' } },
            spec: {
              hostNetwork: false,
              nodeName: null,
              containers: [
                { name: 'c', image: 'i', bar: 1, resources: { limits: { cpu: 0.5, memory: '1024Mi' } }, env: [] },
              ],
            },
          },
        },
      } as never,
      deployment,
    );
    expect(unknownFields).toEqual(['metadata.foo', 'spec.template.spec.containers[0].bar']);
    expect(object).toEqual({
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'web' },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { a: '2', b: '1' } },
          spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '500m', memory: '1Gi' } } }] },
        },
        strategy: {},
      },
      status: {},
    });
  });
});
