import { asTable, configMap, core, differentialCase as test, get, post, send } from '../case.ts';

const maps = core('configmaps');
const three = ['a', 'b', 'c'].map((name) =>
  post(`create ${name}`, maps, configMap(name, { n: name }, { labels: { app: name === 'c' ? 'y' : 'x' } })),
);
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const partialList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** GET of one object and of many. */
export const reading = [
  test(
    'what is not there',
    get('object', `${maps}/nope`),
    get('resource in a known group', core('gizmos/x')),
    get('group', '/apis/nope.example.com/v1/gizmos'),
    get('version of a known group', '/apis/apps/v7/deployments'),
    get('version of the core group', '/api/v9/pods'),
    get('object in another group', '/apis/apps/v1/namespaces/{ns}/deployments/nope'),
    get('cluster-scoped object', '/api/v1/nodes/nope'),
    get('cluster-scoped resource in a namespace', core('nodes/nope')),
    get('namespaced object without a namespace', '/api/v1/configmaps/a'),
    get('path', '/nothing/here'),
    get('list in a missing namespace', '/api/v1/namespaces/nowhere/configmaps'),
    get('discovery of a missing group', '/apis/nope.example.com'),
  ),
  test(
    'formats of answers',
    post('create', maps, configMap('a', { x: '1' }, { labels: { app: 'x' } })),
    get('html', `${maps}/a`, { headers: { accept: 'text/html' } }),
    get('cbor', `${maps}/a`, { headers: { accept: 'application/cbor' } }),
    get('anything', `${maps}/a`, { headers: { accept: '*/*' } }),
    get('application/*', `${maps}/a`, { headers: { accept: 'application/*' } }),
    get('protobuf preferred', `${maps}/a`, {
      headers: { accept: 'application/vnd.kubernetes.protobuf, application/json' },
      pick: () => 'bytes',
    }),
    get('json after html', `${maps}/a`, { headers: { accept: 'text/html, application/json;q=0.5' } }),
    get('yaml', `${maps}/a`, { headers: { accept: 'application/yaml' }, pick: (text) => String(text).split('\n')[0] }),
    get('pretty', `${maps}/a?pretty=true`),
    get('an error as html', `${maps}/nope`, { headers: { accept: 'text/html' } }),
    send('HEAD', 'HEAD', `${maps}/a`),
  ),
  test(
    'tables',
    ...three,
    get('of one', `${maps}/a`, { headers: { accept: asTable } }),
    get('with the object', `${maps}/a?includeObject=Object`, { headers: { accept: asTable } }),
    get('with nothing', `${maps}/a?includeObject=None`, { headers: { accept: asTable } }),
    get('with a bad value', `${maps}/a?includeObject=Half`, { headers: { accept: asTable } }),
    get('of a page', `${maps}?limit=2`, { headers: { accept: asTable } }),
    get('of none', `${maps}?labelSelector=app%3Dnone`, { headers: { accept: asTable } }),
    get('an error as a table', `${maps}/nope`, { headers: { accept: asTable } }),
    get('v1beta1', `${maps}/a`, { headers: { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' } }),
  ),
  test(
    'metadata only',
    ...three,
    get('of one', `${maps}/a`, { headers: { accept: partial } }),
    get('of a page', `${maps}?limit=2`, { headers: { accept: partialList } }),
    get('list form of one', `${maps}/a`, { headers: { accept: partialList } }),
    get('object form of a list', maps, { headers: { accept: partial } }),
    get('unknown form', `${maps}/a`, { headers: { accept: 'application/json;as=Nothing;g=meta.k8s.io;v=v1' } }),
  ),
  test(
    'label selectors',
    ...three,
    ...['app=x', 'app==x', 'app!=x', 'app in (x,z)', 'app notin (x)', 'app', '!app', 'app in (x),!none'].map((text) =>
      get(text, `${maps}?labelSelector=${encodeURIComponent(text)}`, {
        pick: (list) => list.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      }),
    ),
    ...['===', 'app in', 'app in (', 'a b', 'app=not good!', 'n>x', 'app in ()', '/x=1', `${'k'.repeat(64)}=1`].map(
      (text) => get(`bad: ${text.slice(0, 20)}`, `${maps}?labelSelector=${encodeURIComponent(text)}`),
    ),
  ),
  test(
    'field selectors',
    ...three,
    ...['metadata.name=a', 'metadata.name!=a', 'metadata.namespace={ns},metadata.name=b', 'metadata.name=zz'].map(
      (text) =>
        get(text, `${maps}?fieldSelector=${text}`, {
          pick: (list) => list.items.map((item: { metadata: { name: string } }) => item.metadata.name),
        }),
    ),
    ...['data.n=a', 'metadata.name', 'metadata.labels.app=x', '=', 'a=b=c'].map((text) =>
      get(`bad: ${text}`, `${maps}?fieldSelector=${encodeURIComponent(text)}`),
    ),
    get('pods by unknown field', core('pods?fieldSelector=spec.nothing%3Dx')),
    get('pods by several fields', core('pods?fieldSelector=spec.nodeName%3Dn,status.phase!%3DRunning')),
    get('namespaces by phase', '/api/v1/namespaces?fieldSelector=status.phase%3DNone'),
    get('secrets by type', core('secrets?fieldSelector=type%3DOpaque')),
  ),
  test(
    'pages',
    ...three,
    get('first page', `${maps}?limit=2`, {
      save: {
        next: (list) => encodeURIComponent(list.metadata.continue),
        at: (list) => list.metadata.resourceVersion,
      },
    }),
    post('a write in between', maps, configMap('bb', {})),
    get('second page is as of the first', `${maps}?limit=2&continue={next}`),
    get('continue with a version', `${maps}?limit=2&continue={next}&resourceVersion={at}`),
    get('bad token', `${maps}?limit=2&continue=abc`),
    get('token of no JSON', `${maps}?limit=2&continue=!!`),
    get('one page is enough', `${maps}?limit=10`, { pick: (list) => list.metadata }),
    get('limit 0', `${maps}?limit=0`, { pick: (list) => list.metadata }),
    get('limit below 0', `${maps}?limit=-1`, { pick: (list) => list.metadata ?? list }),
    get('limit of no number', `${maps}?limit=many`),
    get('page with a selector', `${maps}?limit=1&labelSelector=app%3Dx`, { pick: (list) => list.metadata }),
  ),
  test(
    'versions of lists',
    ...three,
    get('current', maps, { save: { at: (list) => list.metadata.resourceVersion } }),
    post('a write', maps, configMap('d', {}), { save: { newer: (object) => object.metadata.resourceVersion } }),
    get('any', `${maps}?resourceVersion=0`, { pick: (list) => list.items.length > 2 }),
    get('exactly then', `${maps}?resourceVersion={at}&resourceVersionMatch=Exact`),
    get('not older', `${maps}?resourceVersion={newer}&resourceVersionMatch=NotOlderThan`, {
      pick: (list) => list.items.length,
    }),
    get('match without version', `${maps}?resourceVersionMatch=Exact`),
    get('exactly 0', `${maps}?resourceVersion=0&resourceVersionMatch=Exact`),
    get('unknown match', `${maps}?resourceVersion={at}&resourceVersionMatch=About`),
    get('no number', `${maps}?resourceVersion=abc`),
    get('negative', `${maps}?resourceVersion=-1`),
    get('object at a version', `${maps}/a?resourceVersion={at}`, { pick: (object) => object.metadata.name }),
    get('object at no number', `${maps}/a?resourceVersion=abc`),
    get('sendInitialEvents on a list', `${maps}?sendInitialEvents=true`),
    get('limit and unset version with match', `${maps}?limit=1&resourceVersionMatch=NotOlderThan`),
  ),
  test(
    'versions to come',
    post('create', maps, configMap('a', {})),
    get('list', `${maps}?resourceVersion=99999999&resourceVersionMatch=NotOlderThan`),
    get('object', `${maps}/a?resourceVersion=99999999`),
    get('list exactly', `${maps}?resourceVersion=99999999&resourceVersionMatch=Exact`),
  ),
  test(
    'all namespaces at once',
    post('create', maps, configMap('all', {}, { labels: { only: 'this-case' } })),
    get('by label', '/api/v1/configmaps?labelSelector=only%3Dthis-case'),
    get('by name and namespace', '/api/v1/configmaps?fieldSelector=metadata.namespace%3D{ns},metadata.name%3Dall', {
      pick: (list) => list.items.length,
    }),
    get('table', '/api/v1/configmaps?labelSelector=only%3Dthis-case', { headers: { accept: asTable } }),
  ),
  test(
    'the server itself',
    get('version', '/version'),
    get('healthz', '/healthz'),
    get('livez', '/livez'),
    get('readyz', '/readyz'),
    get('ping', '/livez/ping'),
    get('api', '/api'),
    get('resources of the core group', '/api/v1', {
      pick: (list) => list.resources.filter(({ name }: { name: string }) => /^(configmaps|pods|namespaces)/.test(name)),
    }),
    get('apps group', '/apis/apps'),
    get('apps resources', '/apis/apps/v1'),
    get('batch resources', '/apis/batch/v1'),
    get('rbac resources', '/apis/rbac.authorization.k8s.io/v1'),
    get('apiextensions resources', '/apis/apiextensions.k8s.io/v1'),
    get('authorization resources', '/apis/authorization.k8s.io/v1'),
    get('names of groups', '/apis', { pick: (list) => list.groups.map(({ name }: { name: string }) => name) }),
    get('aggregated core', '/api', {
      headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
      pick: (list) => ({
        ...list,
        items: list.items.map((item: { versions: { resources: object[] }[] }) => ({
          ...item,
          versions: item.versions.map((version) => ({ ...version, resources: version.resources.slice(0, 3) })),
        })),
      }),
    }),
    get('openapi index', '/openapi/v3', {
      pick: (index) => Object.keys(index.paths).filter((key) => /apps|^version/.test(key)),
    }),
    get('openapi of a missing group', '/openapi/v3/apis/nope.example.com/v1'),
  ),
];
