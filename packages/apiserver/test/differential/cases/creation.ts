import {
  applyPatch,
  configMap,
  core,
  del,
  differentialCase as test,
  get,
  mergePatch,
  patch,
  post,
  put,
  send,
} from '../case.ts';

const maps = core('configmaps');

function priority(metadata: object): object {
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: '{ns}', ...metadata },
    value: 7,
  };
}

/** What POST takes and refuses. */
export const creation = [
  test(
    'create a namespace',
    post('create', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'd-made' } }),
    post('create twice', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'd-made' } }),
    get('read', '/api/v1/namespaces/d-made'),
    post('name too long', '/api/v1/namespaces', { metadata: { name: 'x'.repeat(64) } }),
    post('name with a dot', '/api/v1/namespaces', { metadata: { name: 'a.b' } }),
  ),
  test(
    'create with a field manager',
    post('named', `${maps}?fieldManager=first`, configMap('a', { x: '1' }, { labels: { app: 'a' } })),
    post('twice', maps, configMap('a', { x: '1' })),
    post('manager from the user agent', maps, configMap('b', { x: '1' }), {
      headers: { 'user-agent': 'tester/v1.2 (linux/amd64) abc' },
    }),
    post('manager too long', `${maps}?fieldManager=${'m'.repeat(129)}`, configMap('c', {})),
    post('manager not printable', `${maps}?fieldManager=a%07b`, configMap('c', {})),
  ),
  test(
    'create with metadata that is not the client’s to set',
    post('resourceVersion', maps, configMap('a', {}, { resourceVersion: '7' })),
    post(
      'uid, generation, creationTimestamp, deletionTimestamp',
      maps,
      configMap(
        'b',
        {},
        {
          uid: '00000000-1111-2222-3333-444444444444',
          generation: 9,
          creationTimestamp: '2001-01-01T00:00:00Z',
          deletionTimestamp: '2001-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 5,
          selfLink: '/nowhere',
        },
      ),
    ),
    post('another namespace', maps, configMap('c', {}, { namespace: 'elsewhere' })),
    post('the same namespace', maps, configMap('d', {}, { namespace: '{ns}' })),
    post('a namespace that is not there', '/api/v1/namespaces/nowhere/configmaps', configMap('a', {})),
    post('without a namespace in the path', '/api/v1/configmaps', configMap('a', {}, { namespace: '{ns}' })),
  ),
  test(
    'metadata of objects outside of namespaces',
    post('with a namespace', '/apis/scheduling.k8s.io/v1/priorityclasses', priority({ namespace: 'default' })),
    put('again', '/apis/scheduling.k8s.io/v1/priorityclasses/{ns}', priority({ namespace: 'elsewhere' })),
    patch('merged', '/apis/scheduling.k8s.io/v1/priorityclasses/{ns}', mergePatch, {
      metadata: { namespace: 'default', labels: { a: 'b' } },
    }),
    patch(
      'applied',
      '/apis/scheduling.k8s.io/v1/priorityclasses/{ns}?fieldManager=x&force=true',
      applyPatch,
      priority({ namespace: 'default' }),
    ),
    patch(
      'applied anew',
      '/apis/scheduling.k8s.io/v1/priorityclasses/{ns}-b?fieldManager=x',
      applyPatch,
      priority({ name: '{ns}-b', namespace: 'default' }),
    ),
    post('namespace in a namespace', '/api/v1/namespaces', { metadata: { name: '{ns}-c', namespace: 'default' } }),
  ),
  test(
    'dry run of an object that has a version',
    post('create', `${maps}?dryRun=All`, configMap('a', { x: '1' }, { resourceVersion: '7' })),
    post('create with no number', `${maps}?dryRun=All`, configMap('a', { x: '1' }, { resourceVersion: 'abc' })),
    patch(
      'apply to nothing',
      `${maps}/a?dryRun=All&fieldManager=x`,
      applyPatch,
      configMap('a', { x: '1' }, { resourceVersion: '7' }),
    ),
    get('nothing is there', `${maps}/a`),
  ),
  test(
    'names of objects',
    post('upper case and underscore', maps, configMap('Not_Good', {})),
    post('no name', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }),
    post('generated', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } }),
    post('bad prefix to generate from', maps, { metadata: { generateName: 'Made_' } }),
    post('longer than 253', maps, configMap('n'.repeat(254), {})),
    post('with a percent', maps, configMap('a%b', {})),
    post('dot dot', maps, configMap('..', {})),
  ),
  test(
    'kind and version of the body',
    post('another kind', maps, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }),
    post('an unknown kind', maps, { apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'a' } }),
    post('another version', maps, { apiVersion: 'v7', kind: 'ConfigMap', metadata: { name: 'a' } }),
    post('neither', maps, { metadata: { name: 'a' }, data: { x: '1' } }),
    post('kind only', maps, { kind: 'ConfigMap', metadata: { name: 'b' } }),
  ),
  test(
    'bodies that cannot be read',
    post('truncated', maps, '{"apiVersion":"v1","kind":'),
    post('empty', maps, ''),
    post('a list', maps, '[]'),
    post('a string', maps, '"x"'),
    post('null', maps, 'null'),
    post('number for a string', maps, configMap('a', { x: 1 })),
    post('string for an object', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: 'x' }),
    post('object for a string', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: { a: 1 } } }),
    post('list for an object', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: [] }),
    post('trailing text', maps, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"trail"}} x'),
  ),
  test(
    'content types of bodies',
    post('text/plain', maps, 'hello', { headers: { 'content-type': 'text/plain' } }),
    post('yaml', maps, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\ndata:\n  a: "1"\n  b: "yes"\n', {
      headers: { 'content-type': 'application/yaml' },
    }),
    post('yaml with an error', maps, 'a: [1\n', { headers: { 'content-type': 'application/yaml' } }),
    post('json with a charset', maps, configMap('charset', {}), {
      headers: { 'content-type': 'application/json; charset=utf-8' },
    }),
    post('apply type on POST', maps, configMap('p', {}), { headers: { 'content-type': applyPatch } }),
  ),
  test(
    'unknown and repeated fields',
    post('warned by default', maps, { ...configMap('w', {}), datum: { a: '1' }, other: 1 }),
    post('Strict', `${maps}?fieldValidation=Strict`, {
      ...configMap('s', {}, { nickname: 'x' }),
      datum: { a: '1' },
    }),
    post('Ignore', `${maps}?fieldValidation=Ignore`, { ...configMap('i', {}), datum: {} }),
    post('bad value', `${maps}?fieldValidation=Sometimes`, configMap('b', {})),
    post(
      'repeated, Strict',
      `${maps}?fieldValidation=Strict`,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"r","name":"r"},"data":{"a":"1","a":"2"}}',
    ),
    post(
      'repeated, Warn',
      maps,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"r"},"data":{"a":"1","a":"2"},"more":1}',
    ),
    put('Strict on PUT', `${maps}/w?fieldValidation=Strict`, { ...configMap('w', {}), extra: true }),
    post('deep in a pod', core('pods?dryRun=All'), {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'x', imagePull: 'Always', env: [{ nom: 'a', name: 'A' }] }], foo: 1 },
    }),
  ),
  test(
    'dry run of create',
    post('dryRun=All', `${maps}?dryRun=All`, configMap('dry', { a: '1' })),
    get('was not stored', `${maps}/dry`),
    post('bad value', `${maps}?dryRun=Perhaps`, configMap('dry', {})),
    post('generated name', `${maps}?dryRun=All`, { metadata: { generateName: 'dry-' } }),
    post('of an object that is there', `${maps}`, configMap('there', {})),
    post('of an object that is there, again', `${maps}?dryRun=All`, configMap('there', {})),
  ),
  test(
    'bad metadata in several places',
    post(
      'labels and annotations',
      maps,
      configMap(
        'l',
        {},
        {
          labels: { k: 'not good!' },
          annotations: { 'Not Good': 'x' },
        },
      ),
    ),
    post(
      'owner without uid',
      maps,
      configMap(
        'o',
        {},
        {
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }],
        },
      ),
    ),
    post(
      'two controllers',
      maps,
      configMap(
        'o',
        {},
        {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'a', controller: true },
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: 'b', controller: true },
          ],
        },
      ),
    ),
    post('owner of no version', maps, configMap('o', {}, { ownerReferences: [{ kind: 'X', name: 'a', uid: 'a' }] })),
    post(
      'the same owner twice',
      maps,
      configMap(
        'oo',
        {},
        {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'a' },
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'a' },
          ],
        },
      ),
    ),
    post('finalizer without a domain', maps, configMap('f', {}, { finalizers: ['plain'] })),
    post('annotations too large', maps, configMap('big', {}, { annotations: { a: 'x'.repeat(263_000) } })),
  ),
  test(
    'sizes',
    post('data over 1 MiB', maps, configMap('big', { a: 'x'.repeat(1_100_000) })),
    post('body over 3 MiB', maps, configMap('big', { a: 'x'.repeat(3_300_000) })),
    post('bad key', maps, configMap('k', { '..': '2' })),
    post('key in data and binaryData', maps, { ...configMap('k', { a: '1' }), binaryData: { a: 'MQ==' } }),
    post('binaryData not base64', maps, { ...configMap('k', {}), binaryData: { a: '!' } }),
  ),
  test(
    'methods that a path does not take',
    post('POST to an object', `${maps}/a`, configMap('a', {})),
    put('PUT to a collection', maps, configMap('a', {})),
    send('OPTIONS', 'OPTIONS', maps),
    send('PATCH a collection', 'PATCH', maps, { body: {}, headers: { 'content-type': applyPatch } }),
    post('POST to status', core('pods/a/status'), { metadata: { name: 'a' } }),
    del('DELETE a status', core('pods/a/status')),
    put('PUT to a review', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {}),
    get('GET of a review', '/apis/authorization.k8s.io/v1/subjectaccessreviews'),
    post('unknown subresource', `${maps}/a/nothing`, {}),
  ),
];
