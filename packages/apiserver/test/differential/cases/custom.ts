import {
  applyPatch,
  asTable,
  collect,
  compact,
  configMap,
  core,
  del,
  differentialCase as test,
  get,
  jsonPatch,
  mergePatch,
  openWatch,
  patch,
  poll,
  post,
  put,
  strategicPatch,
  type Step,
} from '../case.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const specSchema = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 10 },
    color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
    tags: { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 30 }, 'x-kubernetes-list-type': 'set' },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'proto'],
      items: {
        type: 'object',
        required: ['port'],
        properties: {
          port: { type: 'integer' },
          proto: { type: 'string', default: 'TCP' },
          name: { type: 'string' },
        },
      },
    },
    plain: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
    options: { type: 'object', additionalProperties: { type: 'string' } },
    nested: { type: 'object', default: {}, properties: { depth: { type: 'integer', default: 3 } } },
    either: { 'x-kubernetes-int-or-string': true },
    raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is fixed' }] },
    maybe: { type: 'string', nullable: true },
    low: { type: 'integer' },
    high: { type: 'integer' },
    when: { type: 'string', format: 'date-time' },
    code: { type: 'string', pattern: '^[a-z]+$', minLength: 2 },
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(self.low) || !has(self.high) || self.low <= self.high',
      message: 'low must not exceed high',
      fieldPath: '.low',
      reason: 'FieldValueInvalid',
    },
    {
      rule: "!has(self.tags) || self.tags.all(t, t.startsWith('t'))",
      messageExpression: "'bad tags of ' + self.color",
    },
  ],
};
const schema = {
  type: 'object',
  properties: {
    spec: specSchema,
    status: {
      type: 'object',
      properties: {
        phase: { type: 'string' },
        replicas: { type: 'integer' },
        selector: { type: 'string' },
        conditions: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
          items: {
            type: 'object',
            required: ['type', 'status'],
            properties: { type: { type: 'string' }, status: { type: 'string' }, reason: { type: 'string' } },
          },
        },
      },
    },
  },
};
const version = (name: string, openAPIV3Schema: object, extra: object = {}) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema },
  ...extra,
});
const crdOf = (group: string, spec: object = {}, name = `gadgets.${group}`) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', shortNames: ['gd'], categories: ['all'] },
    versions: [
      version('v1', schema, {
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.size',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'When', type: 'date', jsonPath: '.spec.when', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        selectableFields: [{ jsonPath: '.spec.color' }],
      }),
      version('v2', { ...schema, description: 'The second.' }, { storage: false, subresources: { status: {} } }),
    ],
    ...spec,
  },
});

/** A CRD of the case's own, so that cases do not meet. */
function installed(group: string): { gadgets: string; second: string; install: Step[] } {
  const gadgets = `/apis/${group}/v1/namespaces/{ns}/gadgets`;
  return {
    gadgets,
    second: `/apis/${group}/v2/namespaces/{ns}/gadgets`,
    install: [post('CRD', crds, crdOf(group)), poll('the resource', gadgets, ({ status }) => status === 200)],
  };
}

const gadget = (group: string, name: string, spec: unknown, rest: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Gadget',
  metadata: { name },
  spec,
  ...rest,
});

/** The token of a page that begins after an object, as of a revision. */
function pageAfter(name: string, rv: number): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start: `/${name}\0` })).toString('base64url');
}

function customCase(name: string, group: string, steps: (gadgets: string, second: string) => Step[]) {
  const { gadgets, second, install } = installed(group);
  return test(name, ...install, ...steps(gadgets, second));
}

/** CRDs, their objects, and server-side apply. */
export const custom = [
  test(
    'CRDs that are refused',
    post(
      'not structural',
      crds,
      crdOf('bad.example.com', {
        versions: [version('v1', { type: 'object', properties: { spec: { properties: { a: {} } } } })],
      }),
    ),
    post('name of another group', crds, crdOf('bad.example.com', {}, 'gadgets.other.example.com')),
    post(
      'two storage versions',
      crds,
      crdOf('bad.example.com', {
        versions: [version('v1', { type: 'object' }), version('v2', { type: 'object' })],
      }),
    ),
    post(
      'no storage version',
      crds,
      crdOf('bad.example.com', {
        versions: [version('v1', { type: 'object' }, { storage: false })],
      }),
    ),
    post('no schema', crds, crdOf('bad.example.com', { versions: [{ name: 'v1', served: true, storage: true }] })),
    post('no versions', crds, crdOf('bad.example.com', { versions: [] })),
    post(
      'rule that does not compile',
      crds,
      crdOf('bad.example.com', {
        versions: [
          version('v1', {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { a: { type: 'string' } },
                'x-kubernetes-validations': [{ rule: 'self.b > 1' }],
              },
            },
          }),
        ],
      }),
    ),
    post(
      'rule that costs too much',
      crds,
      crdOf('bad.example.com', {
        versions: [
          version('v1', {
            type: 'object',
            properties: {
              words: {
                type: 'array',
                items: { type: 'string' },
                'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x.contains(y)))' }],
              },
            },
          }),
        ],
      }),
    ),
    post(
      'default of the wrong type',
      crds,
      crdOf('bad.example.com', {
        versions: [
          version('v1', {
            type: 'object',
            properties: { spec: { type: 'object', properties: { a: { type: 'string', default: 1 } } } },
          }),
        ],
      }),
    ),
    post('bad scope', crds, crdOf('bad.example.com', { scope: 'Sometimes' })),
    post('protected group', crds, crdOf('gadgets.k8s.io', {}, 'gadgets.gadgets.k8s.io')),
    post(
      'list without a key',
      crds,
      crdOf('bad.example.com', {
        versions: [
          version('v1', {
            type: 'object',
            properties: {
              l: {
                type: 'array',
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['k'],
                items: { type: 'object', properties: { k: { type: 'string' } } },
              },
            },
          }),
        ],
      }),
    ),
  ),
  test(
    'a CRD and what it brings',
    post('create', crds, crdOf('brings.example.com')),
    poll('it to be established', `${crds}/gadgets.brings.example.com`, ({ body }) =>
      Boolean(
        body.status?.conditions?.some(
          (one: { type: string; status: string }) => one.type === 'Established' && one.status === 'True',
        ),
      ),
    ),
    poll('the resource', '/apis/brings.example.com/v1/gadgets', ({ status }) => status === 200),
    get('read', `${crds}/gadgets.brings.example.com`, {
      pick: ({ metadata, spec, status }) => ({
        generation: metadata.generation,
        finalizers: metadata.finalizers,
        names: spec.names,
        conversion: spec.conversion,
        status,
      }),
    }),
    poll('discovery', '/apis/brings.example.com/v1', ({ status }) => status === 200),
    get('group', '/apis/brings.example.com'),
    get('resources', '/apis/brings.example.com/v1'),
    get('resources of the second', '/apis/brings.example.com/v2'),
    poll('openapi', '/openapi/v3/apis/brings.example.com/v1', ({ status }) => status === 200),
    get('openapi schema', '/openapi/v3/apis/brings.example.com/v1', {
      pick: (document) => document.components.schemas['com.example.brings.v1.Gadget'],
    }),
    get('openapi paths', '/openapi/v3/apis/brings.example.com/v1', {
      pick: (document) => Object.keys(document.paths).toSorted(),
    }),
    get('table', crds, {
      headers: { accept: asTable },
      pick: (table) => table.columnDefinitions.map(({ name }: { name: string }) => name),
    }),
    patch(
      'another short name',
      `${crds}/gadgets.brings.example.com`,
      mergePatch,
      { spec: { names: { shortNames: ['gdt'] } } },
      {
        pick: ({ metadata }) => metadata.generation,
      },
    ),
    patch('kind is immutable', `${crds}/gadgets.brings.example.com`, mergePatch, { spec: { scope: 'Cluster' } }),
  ),
  customCase('defaults, pruning and unknown fields of custom resources', 'prune.example.com', (gadgets) => [
    post(
      'defaults',
      `${gadgets}?fieldManager=first`,
      gadget('prune.example.com', 'a', { size: 3, ports: [{ port: 80 }] }),
    ),
    post(
      'pruned with a warning',
      gadgets,
      gadget('prune.example.com', 'b', {
        size: 3,
        more: 1,
        nested: { x: 1 },
        raw: { keep: { me: 1 } },
      }),
    ),
    post('Strict', `${gadgets}?fieldValidation=Strict`, gadget('prune.example.com', 'c', { size: 3, more: 1 })),
    post('Ignore', `${gadgets}?fieldValidation=Ignore`, gadget('prune.example.com', 'd', { size: 3, more: 1 })),
    post('nulls', gadgets, gadget('prune.example.com', 'e', { size: 1, color: null, maybe: null, low: null })),
    post('int or string', gadgets, gadget('prune.example.com', 'f', { size: 1, either: '50%' })),
    post('status is dropped', gadgets, gadget('prune.example.com', 'g', { size: 1 }, { status: { phase: 'X' } })),
    post('unknown metadata', gadgets, {
      ...gadget('prune.example.com', 'h', { size: 1 }),
      metadata: { name: 'h', nick: 'x' },
    }),
    get('list', `${gadgets}?limit=2`),
    get('protobuf', `${gadgets}/a`, { headers: { accept: 'application/vnd.kubernetes.protobuf' } }),
    del('answers with a Status', `${gadgets}/g`),
  ]),
  customCase('invalid custom resources', 'invalid.example.com', (gadgets) => {
    const bad = (label: string, spec: unknown) => post(label, gadgets, gadget('invalid.example.com', 'bad', spec));
    return [
      bad('too large', { size: 99 }),
      bad('not in the enumeration', { size: 1, color: 'green' }),
      bad('wrong type deep', { size: 1, ports: [{ port: 'x' }] }),
      bad('required', { color: 'red' }),
      bad('wrong type at the root', 'text'),
      bad('twice in a set', { size: 1, tags: ['t', 't'] }),
      bad('twice in a map', { size: 1, ports: [{ port: 1 }, { port: 1 }] }),
      bad('rule', { size: 1, low: 5, high: 1 }),
      bad('message of a rule', { size: 1, tags: ['x'] }),
      bad('fraction for an integer', { size: 1, low: 1.5 }),
      bad('date-time', { size: 1, when: 'yesterday' }),
      bad('pattern', { size: 1, code: 'UPPER' }),
      bad('too short', { size: 1, code: 'a' }),
      bad('too many', { size: 1, tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }),
      bad('no spec at all', undefined),
      post('another kind', gadgets, { ...gadget('invalid.example.com', 'k', { size: 1 }), kind: 'Widget' }),
      post('no kind', gadgets, { metadata: { name: 'k' }, spec: { size: 1 } }),
      post('another version', gadgets, {
        ...gadget('invalid.example.com', 'k', { size: 1 }),
        apiVersion: 'invalid.example.com/v3',
      }),
      post('no JSON', gadgets, '{'),
      post('bad name', gadgets, gadget('invalid.example.com', 'Not_Good', { size: 1 })),
    ];
  }),
  customCase('updates of custom resources', 'update.example.com', (gadgets, second) => [
    post('create', gadgets, gadget('update.example.com', 'a', { size: 3 })),
    patch('set once', `${gadgets}/a`, mergePatch, { spec: { fixed: 'x' } }),
    patch('set again', `${gadgets}/a`, mergePatch, { spec: { fixed: 'y' } }),
    patch('metadata keeps the generation', `${gadgets}/a`, mergePatch, { metadata: { annotations: { a: 'b' } } }),
    patch('status through the object', `${gadgets}/a`, mergePatch, { status: { phase: 'no' } }),
    patch('status', `${gadgets}/a/status?fieldManager=controller`, mergePatch, {
      metadata: { labels: { no: '1' } },
      spec: { size: 9 },
      status: { phase: 'Ready', replicas: 2, selector: 'a=b' },
    }),
    patch('bad status', `${gadgets}/a/status`, mergePatch, { status: { replicas: 'two' } }),
    put('PUT without a version', `${gadgets}/a`, gadget('update.example.com', 'a', { size: 5 })),
    put('PUT of status without a version', `${gadgets}/a/status`, gadget('update.example.com', 'a', { size: 5 })),
    patch('strategic', `${gadgets}/a`, strategicPatch, { spec: { size: 4 } }),
    patch('JSON patch', `${gadgets}/a`, jsonPatch, [{ op: 'replace', path: '/spec/size', value: 4 }]),
    patch('JSON patch breaks the schema', `${gadgets}/a`, jsonPatch, [
      { op: 'replace', path: '/spec/size', value: 40 },
    ]),
    post('second version', second, {
      ...gadget('update.example.com', 'b', { size: 2 }),
      apiVersion: 'update.example.com/v2',
    }),
    get('as the first', `${gadgets}/b`),
    get('first as the second', `${second}/a`),
    get('scale', `${gadgets}/a/scale`),
    put('PUT scale', `${gadgets}/a/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a', namespace: '{ns}' },
      spec: { replicas: 7 },
    }),
    get('scale of the second', `${second}/a/scale`),
    get('table', gadgets, { headers: { accept: asTable } }),
    get('by selectable field', `${gadgets}?fieldSelector=spec.color%3Dred`, { pick: (list) => list.items.length }),
    get('by another field', `${gadgets}?fieldSelector=spec.size%3D1`),
    get('metadata', `${gadgets}/a`, {
      headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
    }),
  ]),
  customCase('deletion of a CRD', 'delete.example.com', (gadgets) => [
    post('an object', gadgets, gadget('delete.example.com', 'a', { size: 1 })),
    post('one with a finalizer', gadgets, {
      ...gadget('delete.example.com', 'b', { size: 1 }),
      metadata: { name: 'b', finalizers: ['example.com/f'] },
    }),
    del('CRD', `${crds}/gadgets.delete.example.com`, undefined, {
      pick: ({ kind, metadata }) => ({
        kind,
        finalizers: metadata.finalizers,
        deleted: Boolean(metadata.deletionTimestamp),
      }),
    }),
    poll('the object to go', `${gadgets}/a`, ({ status }) => status === 404),
    get('the other waits', `${gadgets}/b`, { pick: ({ metadata }) => metadata.finalizers }),
    patch('it is let go', `${gadgets}/b`, mergePatch, { metadata: { finalizers: null } }, { pick: ({ kind }) => kind }),
    poll('the CRD to go', `${crds}/gadgets.delete.example.com`, ({ status }) => status === 404),
    poll('the resource to go', gadgets, ({ status }) => status === 404),
    get('gone', gadgets),
  ]),
  customCase('apply and ownership', 'apply.example.com', (gadgets) => {
    const apply = (label: string, manager: string, spec: unknown, query = '') =>
      patch(label, `${gadgets}/a?fieldManager=${manager}${query}`, applyPatch, gadget('apply.example.com', 'a', spec));
    const first = {
      size: 1,
      tags: ['t1', 't2'],
      ports: [{ port: 80, name: 'http' }],
      options: { a: '1' },
      whole: { a: '1' },
      plain: [{ a: '1' }],
    };
    return [
      apply('create', 'one', first),
      apply('again', 'one', first),
      apply('second manager', 'two', { size: 1, tags: ['t3'], ports: [{ port: 443 }], options: { b: '2' } }),
      apply('conflict', 'two', { size: 2, options: { a: '9' } }),
      apply('conflict over what is atomic', 'two', { size: 1, whole: { b: '1' }, plain: [{ a: '2' }] }),
      apply('force', 'two', { size: 2, options: { a: '9' } }, '&force=true'),
      apply('give up', 'one', { size: 2 }),
      patch('give up everything', `${gadgets}/a?fieldManager=two`, applyPatch, {
        apiVersion: 'apply.example.com/v1',
        kind: 'Gadget',
        metadata: { name: 'a' },
      }),
      patch('update by a third', `${gadgets}/a?fieldManager=three`, mergePatch, { spec: { size: 5 } }),
      apply('conflict with the update', 'one', { size: 2 }),
      patch('status', `${gadgets}/a/status?fieldManager=c1`, applyPatch, {
        apiVersion: 'apply.example.com/v1',
        kind: 'Gadget',
        metadata: { name: 'a' },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      }),
      patch('status by a second', `${gadgets}/a/status?fieldManager=c2`, applyPatch, {
        apiVersion: 'apply.example.com/v1',
        kind: 'Gadget',
        metadata: { name: 'a' },
        status: { conditions: [{ type: 'Synced', status: 'True' }] },
      }),
      apply('dry run', 'one', { size: 7 }, '&dryRun=All&force=true'),
      get('after', `${gadgets}/a`),
    ];
  }),
  customCase('apply that is refused', 'refuse.example.com', (gadgets) => {
    const apply = (label: string, query: string, body: unknown, name = 'a') =>
      patch(label, `${gadgets}/${name}${query}`, applyPatch, body);
    const made = (spec: unknown, rest: object = {}) => gadget('refuse.example.com', 'a', spec, rest);
    return [
      apply('create', '?fieldManager=one', made({ size: 1 })),
      apply('no manager', '', made({ size: 2 })),
      apply(
        'managedFields',
        '?fieldManager=one',
        made(
          { size: 2 },
          {
            metadata: {
              name: 'a',
              managedFields: [
                { manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} },
              ],
            },
          },
        ),
      ),
      apply('twice the same key', '?fieldManager=one', made({ size: 2, ports: [{ port: 1 }, { port: 1 }] })),
      apply('no key', '?fieldManager=one', made({ size: 2, ports: [{ proto: 'UDP' }] })),
      apply('unknown field', '?fieldManager=one', made({ size: 2, nope: 1 })),
      apply('wrong type', '?fieldManager=one', made({ size: 'x' })),
      apply('another name', '?fieldManager=one', gadget('refuse.example.com', 'zzz', { size: 2 })),
      apply('stale', '?fieldManager=one', made({ size: 2 }, { metadata: { name: 'a', resourceVersion: '1' } })),
      apply(
        'uid of nothing',
        '?fieldManager=one',
        {
          ...gadget('refuse.example.com', 'new', { size: 2 }),
          metadata: { name: 'new', uid: 'abc' },
        },
        'new',
      ),
      apply('no kind', '?fieldManager=one', { metadata: { name: 'a' }, spec: { size: 2 } }),
      apply('another kind', '?fieldManager=one', { ...made({ size: 2 }), kind: 'Widget' }),
      apply('another version', '?fieldManager=one', { ...made({ size: 2 }), apiVersion: 'refuse.example.com/v9' }),
      apply('no YAML', '?fieldManager=one', 'a: [1'),
      apply('invalid', '?fieldManager=one', made({ size: 99 })),
      apply('bad dry run', '?fieldManager=one&dryRun=Maybe', made({ size: 2 })),
    ];
  }),
  test(
    'apply to built-in kinds',
    patch(
      'YAML',
      `${core('configmaps/y')}?fieldManager=app`,
      applyPatch,
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\ndata:\n  a: "1"\n',
    ),
    patch('forget who owns what', core('configmaps/y'), jsonPatch, [
      { op: 'replace', path: '/metadata/managedFields', value: [{}] },
    ]),
    patch('apply after that', `${core('configmaps/y')}?fieldManager=other`, applyPatch, configMap('y', { b: '2' })),
    post(
      'created first',
      `${core('configmaps')}?fieldManager=creator`,
      configMap('z', { a: '1' }, { labels: { l: '1' } }),
    ),
    patch(
      'applied by the same name',
      `${core('configmaps/z')}?fieldManager=creator`,
      applyPatch,
      configMap('z', { a: '1', b: '2' }),
    ),
    patch('applied by another', `${core('configmaps/z')}?fieldManager=other`, applyPatch, configMap('z', { b: '9' })),
    patch(
      'apply labels and finalizers',
      `${core('configmaps/z')}?fieldManager=meta`,
      applyPatch,
      configMap('z', undefined, {
        labels: { m: '1' },
        finalizers: ['example.com/f'],
        annotations: { n: '1' },
      }),
    ),
    patch('drop them', `${core('configmaps/z')}?fieldManager=meta`, applyPatch, configMap('z', undefined)),
    patch('Strict', `${core('configmaps/z')}?fieldManager=meta&fieldValidation=Strict`, applyPatch, {
      ...configMap('z', {}),
      more: 1,
    }),
    patch(
      'kubectl moves ownership',
      `${core('configmaps/k')}?fieldManager=kubectl`,
      applyPatch,
      configMap('k', { a: '1' }),
    ),
  ),
  // Last, because it is of everything; and of a new kind, because a real server knows more of the past of its own kinds.
  customCase('history that is forgotten', 'history.example.com', (gadgets) => [
    post('create', gadgets, gadget('history.example.com', 'a', { size: 3 })),
    compact(),
    get('exactly then', `${gadgets}?resourceVersion=1&resourceVersionMatch=Exact`),
    get('next page of then', `${gadgets}?limit=1&continue=${pageAfter('a', 1)}`),
    openWatch('from then', `${gadgets}?watch=true&resourceVersion=1&timeoutSeconds=5`),
    collect('from then', 'end'),
    get('not older than then', `${gadgets}?resourceVersion=1&resourceVersionMatch=NotOlderThan`),
  ]),
];
