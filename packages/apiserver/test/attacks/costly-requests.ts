/** A request as it goes over the wire. */
export interface CostlyRequest {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

/** A request that grows with `n`, and could cost more than it weighs. */
export interface Costly {
  readonly name: string;
  /** The largest `n` worth trying; it makes a body of one to three megabytes. */
  readonly largest: number;
  /** The largest for the real server, where that one cannot bear as much as ours. Default: `largest`. */
  readonly largestOnReal?: number;
  /** Sent before, in this order. */
  readonly before?: (n: number) => readonly CostlyRequest[];
  readonly request: (n: number) => CostlyRequest;
}

const json = 'application/json';
const yaml = 'application/yaml';
const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';

const maps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const things = '/apis/attacks.example/v1/namespaces/default/things';
const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

const post = (path: string, body: unknown, type = json): CostlyRequest => ({
  method: 'POST',
  path,
  type,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const patch = (path: string, body: unknown, type: string): CostlyRequest => ({
  ...post(path, body, type),
  method: 'PATCH',
});

const range = <T>(n: number, make: (index: number) => T): T[] => Array.from({ length: n }, (_, index) => make(index));
const fields = (n: number, make: (index: number) => unknown = (index) => `v${index}`) =>
  Object.fromEntries(range(n, (index) => [`key-${index}`, make(index)]));

const map = (name: string, content: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...content,
});
const pod = (name: string, container: object, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
});
const thing = (name: string, spec: object) => ({
  apiVersion: 'attacks.example/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
});
/** Webhooks that are not for what is sent: nobody has to be called. */
const webhooks = (n: number) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'many' },
  webhooks: range(n, (index) => ({
    name: `w${index}.attacks.example`,
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { never: `l${index}` } },
    clientConfig: { url: 'https://127.0.0.1:1/' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  })),
});
const applied = (name: string, manager: string) => `${things}/${name}?fieldManager=${manager}`;

/** The kind most of the requests are about. */
export const thingsCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.attacks.example' },
  spec: {
    group: 'attacks.example',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: 'Texts', type: 'string', jsonPath: '.spec.set[*]' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
                  list: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string' }, value: { type: 'string' } },
                    },
                  },
                  plain: { type: 'array', items: { type: 'string' } },
                  map: {
                    type: 'object',
                    additionalProperties: { type: 'object', properties: { a: { type: 'string' } } },
                  },
                  text: { type: 'string', pattern: '^(a+)+$' },
                  wide: { type: 'string', pattern: '(x+x+)+y' },
                  period: { type: 'string', format: 'duration' },
                  ruled: {
                    type: 'string',
                    maxLength: 3_000_000,
                    'x-kubernetes-validations': [{ rule: "!self.matches('^(b+)+$')" }],
                  },
                  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const long = 'k'.repeat(500_000);

export const costlyRequests: readonly Costly[] = [
  {
    name: 'a JSON patch that doubles a field with every copy',
    largest: 10_000,
    before: () => [post(maps, map('doubled', { data: { a: 'x' } }))],
    request: (n) =>
      patch(
        `${maps}/doubled`,
        range(n, (index) => ({ op: 'copy', from: '/metadata', path: `/metadata/k${index}` })),
        jsonPatch,
      ),
  },
  {
    name: 'a JSON patch that inserts at the front of a long list',
    largest: 10_000,
    before: () => [post(things, thing('pushed', { any: { list: range(200_000, () => 0) } }))],
    request: (n) =>
      patch(
        `${things}/pushed?dryRun=All`,
        range(n, () => ({ op: 'add', path: '/spec/any/list/0', value: 1 })),
        jsonPatch,
      ),
  },
  {
    name: 'a text that backtracks on the pattern of its field',
    largest: 1_000_000,
    request: (n) => post(`${things}?dryRun=All`, thing('t', { text: `${'a'.repeat(n)}!` })),
  },
  {
    name: 'another such text',
    largest: 1_000_000,
    request: (n) => post(`${things}?dryRun=All`, thing('t', { wide: 'x'.repeat(n) })),
  },
  {
    name: 'a text that backtracks on the format of its field',
    largest: 1_000_000,
    request: (n) => post(`${things}?dryRun=All`, thing('t', { period: '1'.repeat(n) })),
  },
  {
    name: 'a text that backtracks on the rule of its field',
    largest: 1_000_000,
    request: (n) => post(`${things}?dryRun=All`, thing('t', { ruled: `${'b'.repeat(n)}!` })),
  },
  {
    name: 'fields named twice',
    largest: 100_000,
    request: (n) =>
      post(
        `${maps}?dryRun=All`,
        `{"metadata":{"name":"d"},"data":{${range(n, (index) => `"k${index}":"a","k${index}":"b"`).join(',')}}}`,
      ),
  },
  {
    name: 'fields below a long name, one of them named twice',
    largest: 100_000,
    request: (n) =>
      post(
        `${maps}?dryRun=All`,
        `{"metadata":{"name":"d"},"x":{"${long}":{"a":1,"a":2,${range(n, (index) => `"k${index}":1`).join(',')}}}}`,
      ),
  },
  {
    name: 'unknown fields below a long name',
    largest: 100_000,
    // It warns of each field by its whole path: half a megabyte of memory a field.
    largestOnReal: 2_000,
    request: (n) => post(`${things}?dryRun=All`, thing('u', { map: { [long]: fields(n, () => 1) } })),
  },
  {
    name: 'YAML with many keys in one map',
    largest: 100_000,
    request: (n) =>
      post(
        `${maps}?dryRun=All`,
        `metadata:\n  name: m\ndata:\n${range(n, (index) => `  k${index}: v\n`).join('')}`,
        yaml,
      ),
  },
  {
    name: 'YAML with the same key again and again',
    largest: 100_000,
    request: (n) => post(`${maps}?dryRun=All`, `metadata:\n  name: m\ndata:\n${'  k: v\n'.repeat(n)}`, yaml),
  },
  {
    name: 'YAML with many aliases',
    largest: 300_000,
    request: (n) => post(`${maps}?dryRun=All`, `metadata: {name: m}\nx: &a v\nz: [${'*a ,'.repeat(n)}]\n`, yaml),
  },
  {
    name: 'YAML with many anchors and aliases',
    largest: 100_000,
    request: (n) => {
      const list = range(n, (index) => `&a${index} v, *a${index}`).join(', ');
      return post(`${maps}?dryRun=All`, `metadata: {name: m}\nx: [${list}]\n`, yaml);
    },
  },
  {
    name: 'YAML with lists in lists in one line',
    largest: 500_000,
    request: (n) => post(`${maps}?dryRun=All`, `metadata: {name: m}\nx:\n  ${'- '.repeat(n)}v\n`, yaml),
  },
  {
    name: 'YAML with a long text of many lines',
    largest: 300_000,
    request: (n) => post(`${maps}?dryRun=All`, `metadata: {name: m}\nx:\n${'  word\n'.repeat(n)}`, yaml),
  },
  {
    name: 'YAML with many comments',
    largest: 300_000,
    request: (n) => post(`${maps}?dryRun=All`, `metadata: {name: m}\n${'# so\n'.repeat(n)}data: {}\n`, yaml),
  },
  {
    name: 'YAML with complex keys',
    largest: 100_000,
    request: (n) => post(`${maps}?dryRun=All`, `metadata: {name: m}\nx:\n${'  ? [a]\n  : b\n'.repeat(n)}`, yaml),
  },
  {
    name: 'applying a long set',
    largest: 15_000,
    before: (n) => [patch(applied('set', 'one'), thing('set', { set: range(n, (index) => `one-${index}`) }), apply)],
    request: (n) =>
      patch(`${applied('set', 'two')}`, thing('set', { set: range(n, (index) => `two-${index}`) }), apply),
  },
  {
    name: 'applying half of a long set again',
    largest: 40_000,
    before: (n) => [patch(applied('half', 'one'), thing('half', { set: range(n, (index) => `v-${index}`) }), apply)],
    request: (n) =>
      patch(applied('half', 'one'), thing('half', { set: range(n / 2, (index) => `v-${n - 2 * index}`) }), apply),
  },
  {
    name: 'applying a long list with keys that somebody else owns',
    largest: 10_000,
    before: (n) => [
      patch(
        applied('list', 'one'),
        thing('list', { list: range(n, (index) => ({ name: `n-${index}`, value: 'a' })) }),
        apply,
      ),
    ],
    request: (n) =>
      patch(
        applied('list', 'two'),
        thing('list', { list: range(n, (index) => ({ name: `n-${index}`, value: 'b' })) }),
        apply,
      ),
  },
  {
    name: 'applying a long list in reverse',
    largest: 10_000,
    before: (n) => [
      patch(applied('turn', 'one'), thing('turn', { list: range(n, (index) => ({ name: `n-${index}` })) }), apply),
    ],
    request: (n) =>
      patch(
        applied('turn', 'one'),
        thing('turn', { list: range(n, (index) => ({ name: `n-${n - 1 - index}` })) }),
        apply,
      ),
  },
  {
    name: 'applying a long map',
    largest: 20_000,
    before: (n) => [patch(applied('map', 'one'), thing('map', { map: fields(n, () => ({ a: 'x' })) }), apply)],
    request: (n) =>
      patch(`${applied('map', 'two')}&force=true`, thing('map', { map: fields(n, () => ({ a: 'y' })) }), apply),
  },
  {
    name: 'a set with a repeated value at its end',
    largest: 100_000,
    request: (n) => post(`${things}?dryRun=All`, thing('r', { set: [...range(n, (index) => `v-${index}`), 'v-0'] })),
  },
  {
    name: 'a list whose elements all have one key',
    largest: 40_000,
    request: (n) => post(`${things}?dryRun=All`, thing('r', { list: range(n, () => ({ name: 'same' })) })),
  },
  {
    name: 'fields nobody knows',
    largest: 100_000,
    request: (n) => post(`${things}?dryRun=All&fieldValidation=Strict`, thing('r', fields(n))),
  },
  {
    name: 'texts of the wrong type',
    largest: 100_000,
    request: (n) => post(`${things}?dryRun=All`, thing('r', { plain: range(n, () => 1) })),
  },
  {
    name: 'a merge patch of many fields',
    largest: 60_000,
    before: (n) => [post(maps, map('merged', { data: fields(n / 2) }))],
    request: (n) => patch(`${maps}/merged?dryRun=All`, { data: fields(n) }, merge),
  },
  {
    name: 'a strategic merge of a long list',
    largest: 10_000,
    before: (n) => [post(pods, pod('env', { env: range(n, (index) => ({ name: `A${index}`, value: 'a' })) }))],
    request: (n) =>
      patch(
        `${pods}/env?dryRun=All`,
        { spec: { containers: [{ name: 'c', env: range(n, (index) => ({ name: `B${index}`, value: 'b' })) }] } },
        strategic,
      ),
  },
  {
    name: 'a strategic merge that deletes from a long list',
    largest: 10_000,
    before: (n) => [post(pods, pod('gone', { env: range(n, (index) => ({ name: `A${index}`, value: 'a' })) }))],
    request: (n) =>
      patch(
        `${pods}/gone?dryRun=All`,
        { spec: { containers: [{ name: 'c', env: range(n, (index) => ({ name: `A${index}`, $patch: 'delete' })) }] } },
        strategic,
      ),
  },
  {
    name: 'a strategic merge that says the order of a long list',
    largest: 10_000,
    before: (n) => [post(pods, pod('order', { env: range(n, (index) => ({ name: `A${index}`, value: 'a' })) }))],
    request: (n) => {
      const order = range(n, (index) => ({ name: `A${n - 1 - index}` }));
      const container = {
        name: 'c',
        '$setElementOrder/env': order,
        env: order.map((each) => ({ ...each, value: 'c' })),
      };
      return patch(`${pods}/order?dryRun=All`, { spec: { containers: [container] } }, strategic);
    },
  },
  {
    name: 'a pod with many environment variables',
    largest: 30_000,
    request: (n) =>
      post(
        `${pods}?dryRun=All`,
        pod('p', { env: range(n, (index) => ({ name: `A${index}`, value: `$(A${index})` })) }),
      ),
  },
  {
    name: 'a pod with many ports',
    largest: 30_000,
    request: (n) =>
      post(
        `${pods}?dryRun=All`,
        pod('p', { ports: range(n, (index) => ({ name: `p${index}`, containerPort: 1 + (index % 65_535) })) }),
      ),
  },
  {
    name: 'a pod with many containers',
    largest: 10_000,
    request: (n) =>
      post(
        `${pods}?dryRun=All`,
        pod('p', {}, { initContainers: range(n, (index) => ({ name: `c${index}`, image: 'i' })) }),
      ),
  },
  {
    name: 'a pod with many volumes and mounts',
    largest: 10_000,
    request: (n) =>
      post(
        `${pods}?dryRun=All`,
        pod(
          'p',
          { volumeMounts: range(n, (index) => ({ name: `v${index}`, mountPath: `/m${index}` })) },
          { volumes: range(n, (index) => ({ name: `v${index}`, emptyDir: {} })) },
        ),
      ),
  },
  {
    name: 'many labels',
    largest: 40_000,
    request: (n) => post(`${maps}?dryRun=All`, map('l', {}, { labels: fields(n) })),
  },
  {
    name: 'many finalizers',
    largest: 40_000,
    request: (n) =>
      post(`${maps}?dryRun=All`, map('f', {}, { finalizers: range(n, (index) => `a.example/f${index}`) })),
  },
  {
    name: 'many owners',
    largest: 10_000,
    request: (n) => {
      const owner = (index: number) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `o${index}`, uid: `u${index}` });
      return post(`${maps}?dryRun=All`, map('o', {}, { ownerReferences: range(n, owner) }));
    },
  },
  {
    name: 'many managers',
    largest: 5_000,
    request: (n) => {
      const manager = (index: number) => ({
        manager: `m${index}`,
        operation: 'Update',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { [`f:k${index}`]: {} } },
      });
      return post(`${maps}?dryRun=All`, map('m', { data: { a: 'b' } }, { managedFields: range(n, manager) }));
    },
  },
  {
    name: 'a service with many ports',
    largest: 10_000,
    request: (n) => {
      const ports = range(n, (index) => ({ name: `p${index}`, port: 1 + (index % 65_535) }));
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports } };
      return post('/api/v1/namespaces/default/services?dryRun=All', service);
    },
  },
  {
    name: 'a selector with many values',
    largest: 50_000,
    request: (n) => {
      const labels = { app: 'a' };
      const selector = {
        matchLabels: labels,
        matchExpressions: [{ key: 'app', operator: 'In', values: [...range(n, (index) => `v${index}`), 'a'] }],
      };
      const spec = { selector, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } } };
      return post('/apis/apps/v1/namespaces/default/deployments?dryRun=All', {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec,
      });
    },
  },
  {
    name: 'a role with many rules',
    largest: 10_000,
    request: (n) =>
      post('/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'r' },
        rules: range(n, (index) => ({ apiGroups: ['g'], resources: [`r${index}`], verbs: ['get'] })),
      }),
  },
  {
    name: 'many webhooks',
    largest: 8_000,
    request: (n) => post(`${configurations}?dryRun=All`, webhooks(n)),
  },
  {
    name: 'an object that many webhooks may be asked about',
    largest: 3_000,
    before: (n) => [post(configurations, webhooks(n))],
    request: () => post(`${maps}?dryRun=All`, map('w', { data: fields(1_000) }, { labels: { app: 'a' } })),
  },
  {
    name: 'a CRD with many fields',
    largest: 20_000,
    request: (n) =>
      post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', {
        ...thingsCrd,
        metadata: { name: 'wides.attacks.example' },
        spec: {
          ...thingsCrd.spec,
          names: { plural: 'wides', kind: 'Wide' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', properties: fields(n, () => ({ type: 'string' })) } },
            },
          ],
        },
      }),
  },
  {
    name: 'a CRD with many columns',
    largest: 10_000,
    request: (n) =>
      post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', {
        ...thingsCrd,
        metadata: { name: 'tables.attacks.example' },
        spec: {
          ...thingsCrd.spec,
          names: { plural: 'tables', kind: 'TableThing' },
          versions: [
            {
              ...thingsCrd.spec.versions[0],
              additionalPrinterColumns: range(n, (index) => ({
                name: `C${index}`,
                type: 'string',
                jsonPath: `.spec.c${index}`,
              })),
            },
          ],
        },
      }),
  },
];
