import {
  asTable,
  collect,
  configMap,
  core,
  del,
  differentialCase as test,
  get,
  mergePatch,
  openWatch,
  patch,
  post,
  type Json,
  type Step,
} from '../case.ts';

const maps = core('configmaps');
const start = [
  post('create', maps, configMap('a', { x: '1' }, { labels: { app: 'x' } })),
  get('list', maps, {
    save: { rv: (list: Json) => list.metadata.resourceVersion },
    pick: (list: Json) => list.items.length,
  }),
];
const quiet = (step: Step): Step => (step.does === 'send' ? { ...step, pick: ({ kind }: Json) => kind } : step);
/** Enters and leaves the selection `app=x`, changes nothing once, goes through a finalizer. */
const story = [
  post('create b', maps, configMap('b', { x: '1' }, { labels: { app: 'y' } })),
  patch('b enters', `${maps}/b`, mergePatch, { metadata: { labels: { app: 'x' } } }),
  patch('b changes', `${maps}/b`, mergePatch, { data: { x: '2' } }),
  patch('b leaves', `${maps}/b`, mergePatch, { metadata: { labels: { app: 'z' } } }),
  patch('nothing', `${maps}/b`, mergePatch, { data: { x: '2' } }),
  del('delete a', `${maps}/a`),
  post('create f', maps, configMap('f', {}, { labels: { app: 'x' }, finalizers: ['example.com/f'] })),
  del('delete f', `${maps}/f`),
  patch('f goes', `${maps}/f`, mergePatch, { metadata: { finalizers: null } }),
  del('delete b', `${maps}/b`),
].map(quiet);

/** Watches: what they begin with, what they bring, how they end. */
export const watching = [
  test(
    'watch from a list',
    ...start,
    openWatch('all', `${maps}?watch=true&resourceVersion={rv}`),
    openWatch('by label', `${maps}?watch=1&resourceVersion={rv}&labelSelector=app%3Dx`),
    openWatch('by name', `${maps}?watch=true&resourceVersion={rv}&fieldSelector=metadata.name%3Db`),
    openWatch('from any', `${maps}?watch=true&resourceVersion=0`),
    openWatch('from now', `${maps}?watch=true`),
    openWatch('old path', '/api/v1/watch/namespaces/{ns}/configmaps?resourceVersion={rv}'),
    openWatch('old path of one', '/api/v1/watch/namespaces/{ns}/configmaps/b?resourceVersion={rv}'),
    openWatch(
      'all namespaces',
      '/api/v1/configmaps?watch=true&resourceVersion={rv}&fieldSelector=metadata.namespace%3D{ns}',
    ),
    ...story,
    collect('all', 9),
    collect('by label', 7),
    collect('by name', 5),
    collect('from any', 10),
    collect('from now', 10),
    collect('old path', 9),
    collect('old path of one', 5),
    collect('all namespaces', 9),
  ),
  test(
    'watch in other forms',
    ...start,
    openWatch('table', `${maps}?watch=true&resourceVersion={rv}`, { accept: asTable }),
    openWatch('metadata', `${maps}?watch=true&resourceVersion={rv}`, {
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    }),
    openWatch('table with the object', `${maps}?watch=true&resourceVersion={rv}&includeObject=Object`, {
      accept: asTable,
    }),
    ...story.slice(0, 3),
    collect('table', 3),
    collect('metadata', 3),
    collect('table with the object', 3),
  ),
  test(
    'initial events',
    ...start,
    openWatch(
      'list as a stream',
      `${maps}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
    ),
    openWatch(
      'by label',
      `${maps}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&labelSelector=app%3Dnone`,
    ),
    openWatch(
      'from a version',
      `${maps}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion={rv}`,
    ),
    openWatch(
      'none wanted',
      `${maps}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion={rv}`,
    ),
    ...story.slice(0, 2),
    collect('list as a stream', 4),
    collect('by label', 1),
    collect('from a version', 4),
    collect('none wanted', 2),
    get('without a match', `${maps}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true`),
    openWatch('without bookmarks', `${maps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`),
    collect('without bookmarks', 2),
  ),
  test(
    'ends and errors of watches',
    ...start,
    openWatch('one second', `${maps}?watch=true&resourceVersion={rv}&timeoutSeconds=1`),
    collect('one second', 'end'),
    openWatch('from the future', `${maps}?watch=true&resourceVersion=99999999999&timeoutSeconds=1`),
    collect('from the future', 'end'),
    get('bad version', `${maps}?watch=true&resourceVersion=abc`),
    get('bad selector', `${maps}?watch=true&labelSelector=%3D%3D`),
    get('bad match', `${maps}?watch=true&resourceVersion={rv}&resourceVersionMatch=Exact`),
    get('of one object', `${maps}/a?watch=true`),
    get('of nothing', core('gizmos?watch=true')),
    get('bad timeout', `${maps}?watch=true&timeoutSeconds=abc`),
    get('of a review', '/apis/authorization.k8s.io/v1/subjectaccessreviews?watch=true'),
  ),
];
