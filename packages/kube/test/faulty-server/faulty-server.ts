import type { Clock, Timer } from '../../src/clock.ts';
import { Answer, type Wire } from './answer.ts';
import type { Fault, RequestVerb } from './fault.ts';
import { type Change, keyOfServed, type ServedKind, type ServedObject, ServedResource } from './served-resource.ts';

export interface SeenRequest {
  readonly verb: RequestVerb;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly at: number;
}

interface Watch {
  readonly resource: ServedResource;
  readonly answer: Answer;
  readonly selects: (object: ServedObject | undefined) => boolean;
  readonly selectsLabels: (labels: Readonly<Record<string, string>> | undefined) => boolean;
  readonly shape: (object: ServedObject) => unknown;
  readonly namespace: string | undefined;
  readonly bookmarks: boolean;
  timers: Timer[];
  sentUpTo: number;
}

interface Snapshot {
  readonly version: number;
  readonly items: readonly ServedObject[];
}

const bookmarkEveryMs = 60_000;

/**
 * An API server as far as a reflector can tell, which does wrong what a test tells it to. It speaks LIST, paged LIST, WATCH
 * with bookmarks and WatchList, over whatever wire it is given. It shares no code with what it tests.
 */
export class FaultyServer {
  readonly #clock: Clock;
  readonly #resources: ServedResource[] = [];
  readonly #once: { verb: RequestVerb | undefined; fault: Fault }[] = [];
  readonly #always = new Map<RequestVerb, Fault>();
  readonly #watches = new Set<Watch>();
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #answers = new Set<Answer>();
  readonly requests: SeenRequest[] = [];
  /** Whether watches get a bookmark every minute. */
  bookmarks = true;
  /** Whether a watch may begin with the present objects. */
  watchList = true;
  version = 100;
  #uid = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Answers that are not over: what sockets would be open for. */
  get openAnswers(): number {
    return this.#answers.size;
  }

  requestsOf(verb: RequestVerb): readonly SeenRequest[] {
    return this.requests.filter((request) => request.verb === verb);
  }

  serve(kind: ServedKind): void {
    this.#resources.push(new ServedResource(kind));
  }

  /** The resource is gone, as when its CRD is deleted. */
  unserve(kind: ServedKind): void {
    const at = this.#resources.findIndex(({ served }) => served.kind === kind.kind);
    if (at >= 0) this.#resources.splice(at, 1);
  }

  /** The next request of `verb` (or any) goes wrong in this way; several faults are used up in order. */
  next(verb: RequestVerb | undefined, fault: Fault): void {
    this.#once.push({ verb, fault });
  }

  /** All requests of `verb` go wrong in this way, until `undefined` ends it. */
  always(verb: RequestVerb, fault: Fault | undefined): void {
    if (fault) this.#always.set(verb, fault);
    else this.#always.delete(verb);
  }

  objects(kind: ServedKind): ReadonlyMap<string, ServedObject> {
    return this.#resource(kind).objects;
  }

  /** Creates or replaces an object. */
  put(
    kind: ServedKind,
    object: {
      name: string;
      namespace?: string;
      labels?: Record<string, string>;
      metadata?: Readonly<Record<string, unknown>>;
      [field: string]: unknown;
    },
  ): ServedObject {
    const resource = this.#resource(kind);
    const { name, namespace, labels, metadata, ...fields } = object;
    const key = namespace ? `${namespace}/${name}` : name;
    const before = resource.objects.get(key);
    this.version += 1;
    this.#uid += before ? 0 : 1;
    const { group, version } = resource.served;
    const stored: ServedObject = {
      apiVersion: group ? `${group}/${version}` : version,
      kind: resource.served.kind,
      metadata: {
        ...metadata,
        ...(labels ? { labels } : {}),
        name,
        ...(namespace ? { namespace } : {}),
        generation: (before?.metadata.generation ?? 0) + 1,
        resourceVersion: String(this.version),
        uid: before?.metadata.uid ?? `00000000-0000-4000-8000-${String(this.#uid).padStart(12, '0')}`,
      },
      ...fields,
    };
    resource.objects.set(key, stored);
    this.#record(resource, {
      version: this.version,
      type: before ? 'MODIFIED' : 'ADDED',
      object: stored,
      labelsBefore: before?.metadata.labels,
    });
    return stored;
  }

  remove(kind: ServedKind, key: string): void {
    const resource = this.#resource(kind);
    const before = resource.objects.get(key);
    if (!before) return;
    resource.objects.delete(key);
    this.version += 1;
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(this.version) } };
    this.#record(resource, { version: this.version, type: 'DELETED', object, labelsBefore: before.metadata.labels });
  }

  /** Forgets all changes so far: watches from before are told 410, lists lose their place. */
  compact(): void {
    for (const resource of this.#resources) {
      resource.changes.length = 0;
      resource.compactedAt = this.version;
    }
    this.#snapshots.clear();
  }

  /** Sends a bookmark to all watches now. */
  sendBookmarks(): void {
    for (const watch of this.#watches) this.#bookmark(watch);
  }

  /** Breaks all open connections. */
  resetAll(): void {
    for (const answer of Array.from(this.#answers)) answer.reset();
  }

  /** Ends all open watches as the server does at their timeout. */
  endWatches(): void {
    for (const watch of Array.from(this.#watches)) watch.answer.end();
  }

  /** Stops sending to all open watches without a word. */
  freezeWatches(): void {
    for (const watch of this.#watches) {
      for (const timer of watch.timers) timer.cancel();
      watch.timers = [];
    }
    this.#watches.clear();
  }

  /** One request; returns what to call when the client goes away. */
  handle(target: string, accept: string, wire: Wire): () => void {
    const url = new URL(target, 'http://server');
    const query = url.searchParams;
    const verb: RequestVerb = !query.has('watch') ? 'list' : query.has('sendInitialEvents') ? 'stream' : 'watch';
    this.requests.push({ verb, path: url.pathname, query, accept, at: this.#clock.now() });
    const fault = this.#takeFault(verb);
    const answer = new Answer(wire, this.#clock, fault);
    this.#answers.add(answer);
    answer.onClosed = () => this.#answers.delete(answer);
    this.#respond(verb, url, accept, answer, fault);
    return () => answer.closed();
  }

  #takeFault(verb: RequestVerb): Fault | undefined {
    const at = this.#once.findIndex((planned) => planned.verb === undefined || planned.verb === verb);
    if (at >= 0) return this.#once.splice(at, 1)[0]!.fault;
    return this.#always.get(verb);
  }

  #respond(verb: RequestVerb, url: URL, accept: string, answer: Answer, fault: Fault | undefined): void {
    if (fault?.type === 'no-answer') return;
    if (fault?.type === 'reset' && fault.after === undefined) {
      answer.reset();
      return;
    }
    if (fault?.type === 'status') {
      answer.head(fault.code, fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) });
      if (fault.text === undefined) {
        const { code, reason, message, causes } = fault;
        answer.body({
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Failure',
          code,
          reason,
          message,
          details: { causes },
        });
      } else answer.body(fault.text);
      return;
    }
    const found = this.#find(url.pathname);
    if (!found) {
      this.#refuse(answer, 404, 'NotFound', 'the server could not find the requested resource');
      return;
    }
    if (verb === 'stream' && !this.watchList) {
      this.#refuse(answer, 422, 'Invalid', 'sendInitialEvents is forbidden for watch');
      return;
    }
    const asked = url.searchParams.get('resourceVersion') ?? '';
    if (asked !== '' && asked !== '0' && Number(asked) > this.version) {
      this.#refuse(answer, 504, 'Timeout', 'Too large resource version', [{ reason: 'ResourceVersionTooLarge' }]);
      return;
    }
    if (verb === 'list') this.#list(found.resource, found.namespace, url.searchParams, accept, answer);
    else this.#watch(verb, found.resource, found.namespace, url.searchParams, accept, answer, fault);
  }

  #refuse(
    answer: Answer,
    code: number,
    reason: string,
    message: string,
    causes: readonly { reason: string }[] = [],
  ): void {
    answer.head(code);
    answer.body({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details: { causes } });
  }

  #list(
    resource: ServedResource,
    namespace: string | undefined,
    query: URLSearchParams,
    accept: string,
    answer: Answer,
  ): void {
    const limit = Number(query.get('limit') ?? 0);
    const token = query.get('continue') ?? '';
    let snapshot: Snapshot | undefined;
    let from = 0;
    if (token) {
      const [id = '', position = ''] = token.split('.');
      snapshot = this.#snapshots.get(id);
      from = Number(position);
      if (!snapshot) {
        this.#refuse(answer, 410, 'Expired', 'The provided continue parameter is too old');
        return;
      }
    } else {
      const selects = selection(namespace, query);
      const items = [...resource.objects.values()]
        .filter(selects)
        .toSorted((a, b) => (keyOfServed(a) < keyOfServed(b) ? -1 : 1));
      snapshot = { version: this.version, items };
    }
    const end = limit > 0 ? Math.min(from + limit, snapshot.items.length) : snapshot.items.length;
    const more = end < snapshot.items.length;
    const id = token.split('.')[0] || `s${this.requests.length}`;
    if (more) this.#snapshots.set(id, snapshot);
    const shape = shaper(resource.served, accept);
    // Built-in kinds: metadata first and items without a type. Custom resources: sorted keys.
    const items = snapshot.items.slice(from, end).map((object) => {
      const shaped = shape(object) as Record<string, unknown>;
      if (resource.served.group !== '') return shaped;
      const { apiVersion: _, kind: __, ...untyped } = shaped;
      return untyped;
    });
    const metadata = { resourceVersion: String(snapshot.version), ...(more ? { continue: `${id}.${end}` } : {}) };
    answer.head(200);
    const kind = `${resource.served.kind}List`;
    if (resource.served.group === '') answer.body({ kind, apiVersion: 'v1', metadata, items });
    else answer.body({ apiVersion: `${resource.served.group}/${resource.served.version}`, items, kind, metadata });
  }

  #watch(
    verb: RequestVerb,
    resource: ServedResource,
    namespace: string | undefined,
    query: URLSearchParams,
    accept: string,
    answer: Answer,
    fault: Fault | undefined,
  ): void {
    const from = Number(query.get('resourceVersion') ?? 0);
    if (verb === 'watch' && from < resource.compactedAt) {
      this.#refuse(answer, 410, 'Expired', `too old resource version: ${from}`);
      return;
    }
    const watch: Watch = {
      resource,
      answer,
      selects: (object) => object !== undefined && selection(namespace, query)(object),
      selectsLabels: labelSelection(query.get('labelSelector') ?? ''),
      shape: shaper(resource.served, accept),
      namespace,
      bookmarks: query.get('allowWatchBookmarks') === 'true',
      timers: [],
      sentUpTo: verb === 'watch' ? from : this.version,
    };
    this.#watches.add(watch);
    const forget = answer.onClosed;
    answer.onClosed = () => {
      forget();
      this.#watches.delete(watch);
      for (const timer of watch.timers) timer.cancel();
    };
    const timeoutSeconds = Number(query.get('timeoutSeconds') ?? 0);
    if (timeoutSeconds > 0) watch.timers.push(this.#clock.schedule(timeoutSeconds * 1000, () => answer.end()));
    answer.head(200);
    if (verb === 'stream') {
      // Synthetic events come in no particular order of versions.
      for (const object of [...resource.objects.values()].toReversed()) {
        if (watch.selects(object)) answer.line({ type: 'ADDED', object: watch.shape(object) });
      }
      if (fault?.type !== 'no-end-marker') {
        this.#bookmark(watch, { 'k8s.io/initial-events-end': 'true' });
      }
    } else {
      for (const change of Array.from(resource.changes)) if (change.version > from) this.#send(watch, change);
    }
    this.#scheduleBookmark(watch);
  }

  #scheduleBookmark(watch: Watch): void {
    if (!this.bookmarks || !watch.bookmarks || watch.answer.over) return;
    const timer = this.#clock.schedule(bookmarkEveryMs, () => {
      watch.timers.splice(watch.timers.indexOf(timer), 1);
      if (!this.#watches.has(watch)) return;
      this.#bookmark(watch);
      this.#scheduleBookmark(watch);
    });
    watch.timers.push(timer);
  }

  #bookmark(watch: Watch, annotations?: Readonly<Record<string, string>>): void {
    const { kind, group, version } = watch.resource.served;
    watch.answer.line({
      type: 'BOOKMARK',
      object: {
        kind,
        apiVersion: group ? `${group}/${version}` : version,
        metadata: { resourceVersion: String(this.version), creationTimestamp: null, annotations },
      },
    });
  }

  #record(resource: ServedResource, change: Change): void {
    resource.changes.push(change);
    for (const watch of Array.from(this.#watches)) if (watch.resource === resource) this.#send(watch, change);
  }

  #send(watch: Watch, change: Change): void {
    if (watch.answer.over || change.version <= watch.sentUpTo) return;
    watch.sentUpTo = change.version;
    const { namespace } = change.object.metadata;
    if (watch.namespace !== undefined && watch.namespace !== namespace) return;
    const now = change.type !== 'DELETED' && watch.selects(change.object);
    const before = change.type !== 'ADDED' && watch.selectsLabels(change.labelsBefore);
    if (!now && !before) return;
    const type = now ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED';
    watch.answer.line({ type, object: watch.shape(change.object) });
  }

  #find(path: string): { resource: ServedResource; namespace: string | undefined } | undefined {
    for (const resource of this.#resources) {
      const found = resource.match(path);
      if (found) return { resource, namespace: found.namespace };
    }
    return undefined;
  }

  #resource(kind: ServedKind): ServedResource {
    const found = this.#resources.find(({ served }) => served.kind === kind.kind && served.group === kind.group);
    if (!found) throw new Error(`${kind.kind} is not served`);
    return found;
  }
}

function shaper(served: ServedKind, accept: string): (object: ServedObject) => unknown {
  if (!accept.includes('as=PartialObjectMetadata')) return (object) => object;
  return ({ metadata }) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
}

function selection(namespace: string | undefined, query: URLSearchParams): (object: ServedObject) => boolean {
  const labels = labelSelection(query.get('labelSelector') ?? '');
  const field = query.get('fieldSelector');
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels(object.metadata.labels) &&
    (!field || field === `metadata.name=${object.metadata.name}`);
}

/** Only equality: enough to see whether a selector was sent. */
function labelSelection(selector: string): (labels: Readonly<Record<string, string>> | undefined) => boolean {
  const pairs = selector
    .split(',')
    .filter(Boolean)
    .map((term) => term.split('='));
  return (labels) => pairs.every(([name = '', value]) => labels?.[name] === value);
}
