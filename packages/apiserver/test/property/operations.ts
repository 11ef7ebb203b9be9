import fc from 'fast-check';
import {
  applyPatch,
  core,
  del,
  get,
  grouped,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  send,
  strategicPatch,
  type Send,
} from '../differential/case.ts';

export const collections = {
  ConfigMap: core('configmaps'),
  NetworkPolicy: grouped('networking.k8s.io/v1', 'networkpolicies'),
  Widget: grouped('property.example.com/v1', 'widgets'),
  Anything: grouped('property.example.com/v1', 'anythings'),
};
export type Kind = keyof typeof collections;

const apiVersions: Record<Kind, string> = {
  ConfigMap: 'v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  Widget: 'property.example.com/v1',
  Anything: 'property.example.com/v1',
};
const kind = fc.constantFrom<Kind>('ConfigMap', 'NetworkPolicy', 'Widget', 'Widget', 'Anything');
const name = fc.constantFrom('a', 'b', 'c');
const manager = fc.constantFrom('one', 'two', 'three');
const text = fc.constantFrom('1', '2', '');
const key = fc.constantFrom('x', 'y', 'z');
const finalizers = fc.constantFrom([], ['example.com/f'], ['example.com/f', 'example.com/g']);

/** Parts of an object that are there or not. */
function optional<T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(shape, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}

const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('web', 'db'), { maxKeys: 2 });
const metadata = optional({
  labels,
  annotations: fc.dictionary(key, text, { maxKeys: 2 }),
  finalizers,
});

const widgetSpec = optional<Record<string, unknown>>({
  size: fc.constantFrom<unknown>(0, 1, 2, -1, 'large'),
  mode: fc.constantFrom('fast', 'slow'),
  tags: fc.array(fc.constantFrom('p', 'q', 'r'), { maxLength: 3 }),
  ports: fc.array(
    fc.record({ port: fc.constantFrom(80, 81), name: fc.constantFrom('http', 'web') }, { requiredKeys: ['port'] }),
    { maxLength: 3 },
  ),
  steps: fc.array(text, { maxLength: 2 }),
  settings: fc.dictionary(key, text, { maxKeys: 2 }),
  whole: optional({ a: text, b: text }),
  unknown: fc.constant(1),
});

/**
 * A built-in kind in which an empty object means something else than none. Without empty lists: the real server counts a new
 * generation of a NetworkPolicy for each, and stores none of them.
 */
const peer = fc.record(
  { podSelector: fc.constantFrom({}, { matchLabels: { app: 'web' } }), namespaceSelector: fc.constant({}) },
  { requiredKeys: ['podSelector'] },
);
const policySpec = optional<Record<string, unknown>>({
  podSelector: fc.constantFrom({}, { matchLabels: { app: 'web' } }),
  policyTypes: fc.constantFrom(['Ingress'], ['Ingress', 'Egress']),
  ingress: fc.array(optional({ from: fc.array(peer, { minLength: 1, maxLength: 2 }) }), { minLength: 1, maxLength: 2 }),
});

/** Any JSON, with many of the values that are easily taken for nothing. */
const { anyJson } = fc.letrec<{ anyJson: unknown; map: object; list: unknown[] }>((tie) => ({
  anyJson: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<unknown>({}, [], null, '', 0, false, 1, 'a', 1.5, true),
    tie('map'),
    tie('list'),
  ),
  map: fc.dictionary(key, tie('anyJson'), { maxKeys: 2 }),
  list: fc.array(tie('anyJson'), { maxLength: 2 }),
}));
export const anySpec = fc.dictionary(key, anyJson, { maxKeys: 3 });

const content: Record<Kind, fc.Arbitrary<object>> = {
  NetworkPolicy: optional({ spec: policySpec }),
  Anything: optional({ spec: anySpec }),
  ConfigMap: optional({ data: fc.dictionary(key, text, { maxKeys: 3 }), immutable: fc.constant(false) }),
  Widget: optional({ spec: widgetSpec, status: optional({ phase: text, seen: fc.constantFrom(1, 2) }) }),
};

/** The same with holes: what a merge patch removes. */
const holes: Record<Kind, fc.Arbitrary<object>> = {
  NetworkPolicy: optional<Record<string, unknown>>({
    spec: fc.dictionary(fc.constantFrom('ingress', 'podSelector', 'policyTypes'), fc.constant(null), { maxKeys: 2 }),
  }),
  Anything: optional<Record<string, unknown>>({ spec: fc.oneof(fc.constant(null), anySpec) }),
  ConfigMap: optional<Record<string, unknown>>({
    data: fc.oneof(
      fc.constant(null),
      fc.dictionary(key, fc.oneof<fc.Arbitrary<unknown>[]>(text, fc.constant(null)), { maxKeys: 2 }),
    ),
  }),
  Widget: optional<Record<string, unknown>>({
    spec: fc.oneof(
      fc.constant(null),
      fc.dictionary(fc.constantFrom('size', 'mode', 'tags', 'settings', 'whole'), fc.constant(null), { maxKeys: 2 }),
    ),
  }),
};

const jsonPaths: Record<Kind, readonly string[]> = {
  ConfigMap: ['/metadata/finalizers', '/metadata/finalizers/0'],
  NetworkPolicy: ['/spec/podSelector', '/spec/ingress/0', '/spec/ingress/-'],
  Anything: ['/spec', '/spec/x', '/spec/x/0', '/spec/x/x', '/spec/y', '/spec/y/-'],
  Widget: ['/spec', '/spec/size', '/spec/tags', '/spec/tags/0', '/spec/tags/-', '/spec/settings/x', '/metadata/labels'],
};
const jsonValue = fc.constantFrom<unknown>('1', 1, {}, [], { x: '1' }, ['p'], ['example.com/f']);

const dryRun = fc.constantFrom('', '', '', '&dryRun=All');
const version = fc.constantFrom('none', 'none', 'current', 'stale');

/** `current` is a variable that the read before the write keeps. */
function versioned(which: string): object {
  return which === 'none' ? {} : { resourceVersion: which === 'stale' ? '1' : '{current}' };
}

const place = fc.record({ kind, name });

/** One thing somebody does to a cluster: a request, or a read and a request that uses what was read. */
export type Operation = readonly Send[];

export function objectOf(of: Kind, called: string, meta: object, rest: object): object {
  return { apiVersion: apiVersions[of], kind: of, metadata: { name: called, ...meta }, ...rest };
}

function withContent<T>(make: (of: Kind, called: string, body: object) => fc.Arbitrary<T>): fc.Arbitrary<T> {
  return place.chain((at) => content[at.kind].chain((body) => make(at.kind, at.name, body)));
}

const creating = withContent((of, called, body) =>
  fc
    .record({ metadata, manager, dryRun })
    .map((with_): Operation => [
      post(
        `create ${of} ${called}`,
        `${collections[of]}?fieldManager=${with_.manager}${with_.dryRun}`,
        objectOf(of, called, with_.metadata, body),
      ),
    ]),
);

/** Reads the version first; without an object there is none, and the request is refused on both sides. */
function readVersion(of: Kind, called: string): Send {
  return get(`read ${of} ${called}`, `${collections[of]}/${called}`, {
    save: { current: (body) => body.metadata?.resourceVersion ?? '7' },
  });
}

const replacing = withContent((of, called, body) =>
  fc
    .record({ metadata, manager, dryRun, version })
    .map((with_): Operation => [
      readVersion(of, called),
      put(
        `replace ${of} ${called}`,
        `${collections[of]}/${called}?fieldManager=${with_.manager}${with_.dryRun}`,
        objectOf(of, called, { ...with_.metadata, ...versioned(with_.version) }, body),
      ),
    ]),
);

const merging = place.chain(({ kind: of, name: called }) =>
  fc
    .record({ body: fc.oneof(content[of], holes[of]), metadata, manager, dryRun, status: fc.boolean() })
    .map((with_): Operation => {
      const subresource = with_.status && of === 'Widget' ? '/status' : '';
      return [
        patch(
          `merge into ${of} ${called}${subresource}`,
          `${collections[of]}/${called}${subresource}?fieldManager=${with_.manager}${with_.dryRun}`,
          mergePatch,
          { ...with_.body, ...(Object.keys(with_.metadata).length > 0 ? { metadata: with_.metadata } : {}) },
        ),
      ];
    }),
);

const strategic = withContent((of, called, body) =>
  manager.map((by): Operation => [
    patch(`strategic ${of} ${called}`, `${collections[of]}/${called}?fieldManager=${by}`, strategicPatch, body),
  ]),
);

interface Patching {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

/**
 * Of two fields of the wrong type in a built-in kind the real server names the one that comes first in its patched text, in which
 * it has sorted some of the keys: only one field of a patch has a value of the wrong type. All that is patched are objects.
 */
function oneWrongField(of: Kind, operations: readonly Patching[]): readonly Patching[] {
  if (of !== 'NetworkPolicy') return operations;
  const fieldOf = ({ path }: Patching) => path.split('/')[2];
  const isWrong = ({ op, value }: Patching) =>
    (op === 'add' || op === 'replace') && (typeof value !== 'object' || Array.isArray(value));
  const first = operations.find(isWrong);
  return operations.filter((each) => !isWrong(each) || fieldOf(each) === fieldOf(first!));
}

const jsonPatching = place.chain(({ kind: of, name: called }) =>
  fc
    .record({
      manager,
      operations: fc.array(
        fc.record({
          op: fc.constantFrom('add', 'replace', 'remove', 'test'),
          path: fc.constantFrom(...jsonPaths[of]),
          value: jsonValue,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    })
    .map((with_): Operation => [
      patch(
        `JSON patch ${of} ${called}`,
        `${collections[of]}/${called}?fieldManager=${with_.manager}`,
        jsonPatch,
        oneWrongField(of, with_.operations).map(({ value, ...rest }) =>
          rest.op === 'remove' ? rest : { ...rest, value },
        ),
      ),
    ]),
);

/** Which other problems the real server reports beside an unknown field is a matter of chance. */
function withoutUnknown(body: object): object {
  const { spec, ...rest } = body as { spec?: Record<string, unknown> };
  if (!spec) return body;
  const { unknown: _, ...known } = spec;
  return { ...rest, spec: known };
}

/**
 * The real server stores empty maps of applied metadata, never shows them, and drops them with the next write, whatever that is:
 * a write that changes nothing then counts as a change.
 */
function withoutEmpty(meta: object): object {
  return Object.fromEntries(Object.entries(meta).filter(([, value]) => Object.keys(value as object).length > 0));
}

const applying = withContent((of, called, body) =>
  fc.record({ metadata, manager, dryRun, force: fc.boolean(), status: fc.boolean() }).map((with_): Operation => {
    const subresource = with_.status && of === 'Widget' ? '/status' : '';
    return [
      patch(
        `apply ${of} ${called}${subresource}`,
        `${collections[of]}/${called}${subresource}?fieldManager=${with_.manager}&force=${with_.force}${with_.dryRun}`,
        applyPatch,
        objectOf(of, called, withoutEmpty(with_.metadata), withoutUnknown(body)),
      ),
    ];
  }),
);

const deleting = fc
  .record({
    place,
    version,
    policy: fc.constantFrom(undefined, 'Background', 'Orphan', 'Foreground'),
  })
  .map(({ place: at, version: which, policy }): Operation => [
    readVersion(at.kind, at.name),
    del(`delete ${at.kind} ${at.name}`, `${collections[at.kind]}/${at.name}`, {
      ...(policy ? { propagationPolicy: policy } : {}),
      ...(which === 'none' ? {} : { preconditions: versioned(which) }),
    }),
  ]);

const listing = fc
  .record({
    kind,
    limit: fc.constantFrom(0, 1, 2),
    selector: fc.constantFrom('', 'app=web', 'app!=web', 'tier in (db)'),
  })
  .map(({ kind: of, limit, selector }): Operation => [
    get(`list ${of}`, `${collections[of]}?limit=${limit}&labelSelector=${encodeURIComponent(selector)}`),
  ]);

const clearing = kind.map((of): Operation => [
  send(`delete all ${of}s with tier=db`, 'DELETE', `${collections[of]}?labelSelector=tier%3Ddb`),
]);

/** Random things to do, in no order that makes sense. */
export const operations: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: creating },
    { weight: 3, arbitrary: replacing },
    { weight: 4, arbitrary: merging },
    { weight: 1, arbitrary: strategic },
    { weight: 3, arbitrary: jsonPatching },
    { weight: 6, arbitrary: applying },
    { weight: 2, arbitrary: deleting },
    { weight: 1, arbitrary: listing },
    { weight: 1, arbitrary: clearing },
  ),
  { minLength: 5, maxLength: 25 },
);
