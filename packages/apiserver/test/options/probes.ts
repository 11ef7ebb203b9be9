import { applyPatch, asTable, jsonPatch, mergePatch, strategicPatch, type Json } from '../differential/case.ts';
import type { Place } from './places.ts';

/** One request to a place, and what to look at afterwards. */
export interface Probe {
  /** Verb and options, such as `patch merge dryRun=All`. */
  readonly name: string;
  readonly method: string;
  /** Below the collection; `{name}` is the object of the probe. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Made from the object as it is. */
  readonly body?: (live: Json) => unknown;
}

interface Option {
  readonly name: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Changes what is sent. */
  readonly body?: (body: Json) => Json;
}

const unknownField = (body: Json) => ({ ...body, unheardOf: true });
const inMetadata = (metadata: object) => (body: Json) => ({ ...body, metadata: { ...body.metadata, ...metadata } });
const query = (text: string): Option => ({ name: text, query: text });
const accepting = (name: string, accept: string): Option => ({ name: `accept ${name}`, headers: { accept } });

const plain: Option = { name: '' };
const formats = [
  accepting('table', asTable),
  accepting('metadata', 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'),
  accepting('yaml', 'application/yaml'),
  accepting('html', 'text/html'),
  query('pretty=true'),
];
const writes: readonly Option[] = [
  plain,
  query('dryRun=All'),
  query('dryRun=Perhaps'),
  query('dryRun=All&dryRun=All'),
  query('fieldManager=me'),
  { name: 'fieldManager too long', query: `fieldManager=${'m'.repeat(129)}` },
  { name: 'fieldManager unprintable', query: 'fieldManager=a%0Ab' },
  query('fieldValidation=Perhaps'),
  ...['Strict', 'Warn', 'Ignore'].map((validation) => ({
    name: `unknown field, fieldValidation=${validation}`,
    query: `fieldValidation=${validation}`,
    body: unknownField,
  })),
  { name: 'unknown field, dryRun=All, Strict', query: 'dryRun=All&fieldValidation=Strict', body: unknownField },
  accepting('table', asTable),
  accepting('yaml', 'application/yaml'),
  query('pretty=true'),
];
const bodies: readonly Option[] = [
  ...writes,
  { name: 'as text', headers: { 'content-type': 'text/plain' } },
  { name: 'as yaml', headers: { 'content-type': 'application/yaml' } },
  { name: 'of another kind', body: (body) => ({ ...body, kind: 'SomethingElse' }) },
  { name: 'in another namespace', body: inMetadata({ namespace: 'elsewhere' }) },
];
const creations: readonly Option[] = [
  ...bodies,
  { name: 'with a resourceVersion', body: inMetadata({ resourceVersion: '1' }) },
  { name: 'without a name', body: inMetadata({ name: undefined }) },
];
const updates: readonly Option[] = [
  ...bodies,
  { name: 'stale', body: inMetadata({ resourceVersion: '1' }) },
  { name: 'stale, dryRun=All', query: 'dryRun=All', body: inMetadata({ resourceVersion: '1' }) },
  { name: 'without a version', body: inMetadata({ resourceVersion: undefined }) },
  { name: 'version no number', body: inMetadata({ resourceVersion: 'x' }) },
  { name: 'other uid', body: inMetadata({ uid: 'other' }) },
  { name: 'other name', body: inMetadata({ name: 'other' }) },
];
const patches: readonly Option[] = [...writes, query('force=true')];
const fewPatches: readonly Option[] = [plain, query('dryRun=All'), query('dryRun=Perhaps'), query('force=true')];
const mergePatches: readonly Option[] = [
  ...patches,
  { name: 'stale', body: inMetadata({ resourceVersion: '1' }) },
  { name: 'other uid', body: inMetadata({ uid: 'other' }) },
  { name: 'other name', body: inMetadata({ name: 'other' }) },
];
const applies: readonly Option[] = [
  { name: 'without a manager' },
  ...patches
    .filter(({ query: given = '' }) => !given.includes('fieldManager'))
    .map((option) => ({ ...option, query: ['fieldManager=applier', option.query].filter(Boolean).join('&') })),
];
const reads: readonly Option[] = [
  plain,
  ...formats,
  query('resourceVersion=0'),
  query('resourceVersion=x'),
  query('resourceVersion=-1'),
];
const lists: readonly Option[] = [
  ...reads,
  query('limit=1'),
  query('limit=-1'),
  query('limit=x'),
  query('continue=nonsense'),
  query('continue=nonsense&resourceVersion=1'),
  query('resourceVersionMatch=Exact'),
  query('resourceVersion=0&resourceVersionMatch=Exact'),
  query('resourceVersion=0&resourceVersionMatch=NotOlderThan'),
  query('resourceVersion=1&resourceVersionMatch=Perhaps'),
  query('labelSelector=probe%3Dnone'),
  query('labelSelector=%3D%3D'),
  query('fieldSelector=metadata.name%3Dnone'),
  query('fieldSelector=unheard.of%3Dnone'),
  query('sendInitialEvents=true'),
  query('timeoutSeconds=x'),
];
/** Watches that are refused; those that are not have no end to wait for. */
const refusedWatches: readonly Option[] = [
  query('watch=1&resourceVersion=x'),
  query('watch=1&resourceVersionMatch=Exact'),
  query('watch=1&resourceVersionMatch=NotOlderThan'),
  query('watch=1&sendInitialEvents=true'),
  query('watch=1&labelSelector=%3D%3D'),
  query('watch=1&fieldSelector=unheard.of%3Dnone'),
];
const deletions: readonly Option[] = [
  plain,
  query('dryRun=All'),
  query('dryRun=Perhaps'),
  query('gracePeriodSeconds=0'),
  query('gracePeriodSeconds=x'),
  query('propagationPolicy=Perhaps'),
  query('propagationPolicy=Orphan'),
  query('propagationPolicy=Foreground'),
  query('propagationPolicy=Foreground&dryRun=All'),
  query('propagationPolicy=Background'),
  query('orphanDependents=true'),
  query('orphanDependents=false'),
  query('orphanDependents=true&propagationPolicy=Orphan'),
  ...(
    [
      ['dryRun', { dryRun: ['All'] }],
      ['dryRun Perhaps', { dryRun: ['Perhaps'] }],
      ['policy', { propagationPolicy: 'Orphan' }],
      ['both policies', { propagationPolicy: 'Orphan', orphanDependents: true }],
      ['other uid', { preconditions: { uid: 'other' } }],
      ['stale', { preconditions: { resourceVersion: '1' } }],
      ['an unknown field', { unheardOf: true }],
      ['another kind', { kind: 'ListOptions' }],
    ] as const
  ).map(([name, options]) => ({
    name: `body with ${name}`,
    body: () => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...options }),
  })),
  accepting('table', asTable),
];
const collectionDeletions: readonly Option[] = [
  query('dryRun=All'),
  query('dryRun=Perhaps'),
  query('labelSelector=%3D%3D'),
  query('labelSelector=probe%3Dnone'),
  query('fieldSelector=metadata.name%3Dnone'),
  query('propagationPolicy=Perhaps'),
  query('limit=x'),
  query('resourceVersion=0&resourceVersionMatch=Exact'),
  { name: 'body with dryRun', body: () => ({ kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] }) },
];

const patchTypes = { json: jsonPatch, merge: mergePatch, strategic: strategicPatch, apply: applyPatch };

interface Family {
  readonly verb: string;
  readonly method: string;
  readonly path: string;
  readonly options: readonly Option[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: (live: Json) => Json;
}

function probesOf({ verb, method, path, options, headers = {}, body }: Family): Probe[] {
  return options.map((option) => {
    const made = body ?? (option.body ? () => undefined : undefined);
    const sent = made && ((live: Json) => (option.body ? option.body(made(live)) : made(live)));
    return {
      name: `${verb} ${option.name}`.trim(),
      method,
      path: option.query ? `${path}?${option.query}` : path,
      headers: { ...(sent ? { 'content-type': 'application/json' } : {}), ...headers, ...option.headers },
      ...(sent ? { body: sent } : {}),
    };
  });
}

/** All there is to ask at a place, whether it is served there or not. */
export function probesAt(place: Place): Probe[] {
  const change = changeAt(place);
  const at = place.subresource ? `/{name}/${place.subresource}` : '/{name}';
  const patched = (type: keyof typeof patchTypes, options: readonly Option[]) =>
    probesOf({
      verb: `patch ${type}`,
      method: 'PATCH',
      path: at,
      options,
      headers: { 'content-type': patchTypes[type] },
      body: (live) => change.patch(live, type),
    });
  const serves = (verb: string, options: readonly Option[]) => (place.verbs.includes(verb) ? options : [plain]);
  const named = [
    ...probesOf({ verb: 'get', method: 'GET', path: at, options: serves('get', reads) }),
    ...probesOf({ verb: 'update', method: 'PUT', path: at, options: serves('update', updates), body: change.put }),
    ...patched('json', serves('patch', fewPatches)),
    ...patched('merge', serves('patch', mergePatches)),
    ...patched('strategic', serves('patch', fewPatches)),
    ...patched('apply', serves('patch', applies)),
    ...probesOf({ verb: 'delete', method: 'DELETE', path: at, options: serves('delete', deletions) }),
  ];
  if (place.subresource) {
    const options = serves('create', creations);
    return [...named, ...probesOf({ verb: 'create', method: 'POST', path: at, options, body: change.post })];
  }
  const path = '';
  return [
    ...named,
    ...probesOf({ verb: 'create', method: 'POST', path, options: creations, body: change.post }),
    ...probesOf({ verb: 'list', method: 'GET', path, options: lists }),
    ...probesOf({ verb: 'watch', method: 'GET', path, options: refusedWatches }),
    ...probesOf({
      verb: 'deletecollection',
      method: 'DELETE',
      path,
      options: serves('deletecollection', collectionDeletions),
    }),
  ];
}

interface Change {
  readonly put: (live: Json) => Json;
  readonly post: (live: Json) => Json;
  readonly patch: (live: Json, type: keyof typeof patchTypes) => Json;
}

/** What a place is asked to change: its labels, and what it is there for. */
function changeAt({ apiVersion, kind, subresource, example }: Place): Change {
  const labels = { probe: 'yes' };
  const identity = (live: Json) => ({ name: live.metadata.name });
  const part = partAt(subresource, example(0).status);
  const [group, as] = subresource === 'scale' ? ['autoscaling/v1', 'Scale'] : [apiVersion, kind];
  return {
    put: (live) =>
      subresource === 'scale'
        ? { apiVersion: group, kind: as, metadata: live.metadata, ...part }
        : { ...live, ...merged(live, part), metadata: { ...live.metadata, labels } },
    post: (live) =>
      postedAt(subresource, live, () => ({ apiVersion, kind, ...example(numberOf(live) + 10_000).object })),
    patch(live, type) {
      if (type === 'json') {
        const values = Object.entries(part).map(([key, value]) => ({ op: 'add', path: `/${key}`, value }));
        return [{ op: 'add', path: '/metadata/labels', value: labels }, ...values];
      }
      if (type === 'apply') return { apiVersion: group, kind: as, metadata: { ...identity(live), labels }, ...part };
      return { metadata: { labels }, ...part };
    },
  };
}

function partAt(subresource: string, status: object | undefined): Record<string, object> {
  if (subresource === 'scale') return { spec: { replicas: 3 } };
  if (subresource === 'finalize') return { spec: {} };
  if (subresource === 'approval') {
    return { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Tested', message: '' }] } };
  }
  return subresource === 'status' && status ? { status } : {};
}

function merged(live: Json, part: Record<string, object>): Json {
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, { ...live[key], ...value }]));
}

function postedAt(subresource: string, live: Json, fresh: () => Json): Json {
  const metadata = { name: live.metadata.name };
  switch (subresource) {
    case '':
      return fresh();
    case 'binding':
      return { apiVersion: 'v1', kind: 'Binding', metadata, target: { kind: 'Node', name: 'n' } };
    case 'eviction':
      return { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
    case 'token':
      return { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec: {} };
    default:
      return { metadata };
  }
}

function numberOf(live: Json): number {
  return Number(live.probe);
}
