/**
 * The server every peer is measured against: the same bytes for all, HTTP/1.1 or HTTP/2 as the client likes, over TLS. It
 * serves what a reflector asks for (LIST, pages, WatchList, WATCH with bookmarks), takes status patches, and counts. It runs in
 * a process of its own and is told over IPC what to send.
 */
import { once } from 'node:events';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

import { percentile } from '../lib/statistics.ts';
import { type BenchKind, indexOfName, objectName, Template, templateObject, type Variables } from './templates.ts';

export interface ServerSetup {
  readonly certificate: string;
  readonly key: string;
  /** Watch events of a Pod as protobuf frames, made by the Go peer from `templateEvents`. */
  readonly podFrames: Readonly<Record<EventType, string>>;
}

export type EventType = 'ADDED' | 'MODIFIED' | 'BOOKMARK';

/** What the driver asks for. */
export type ServerCall =
  | { readonly call: 'setup'; readonly setup: ServerSetup }
  /** Forget everything; hold `count` objects of `kind`. */
  | { readonly call: 'load'; readonly kind: BenchKind; readonly count: number }
  /** Send that many changes as fast as the client takes them, then one that asks for a write; answers when the write came. */
  | { readonly call: 'burst'; readonly events: number }
  /** Send changes at a rate; with `write` each asks for a status patch. Answers when all is sent and patched. */
  | { readonly call: 'steady'; readonly events: number; readonly perSecond: number; readonly write: boolean };

export interface SteadyResult {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Stream {
  readonly response: Http2ServerResponse;
  readonly form: Form;
  /** The client is behind. */
  full: boolean;
}
type Form = 'json' | 'protobuf';

const bookmark = 'BOOKMARK';
const children = 100;

class World {
  kind: BenchKind = 'website';
  count = 0;
  version = 0;
  requests = 0;
  readonly streams = new Set<Stream>();
  #setup: ServerSetup | undefined;
  #item = new Template(Buffer.alloc(0));
  #events = new Map<string, Template>();
  #versions = new Uint32Array(0);
  #revisions = new Uint32Array(0);
  #observed = new Uint32Array(0);
  /** When the change that asks for a write was sent, by index. */
  readonly #asked = new Map<number, number>();
  #latencies: number[] = [];
  #patched: (() => void) | undefined;

  setup(setup: ServerSetup): void {
    this.#setup = setup;
  }

  load(kind: BenchKind, count: number): void {
    this.kind = kind;
    this.count = count;
    this.version = count;
    this.requests = 0;
    this.#versions = Uint32Array.from({ length: count }, (_, i) => i + 1);
    this.#revisions = new Uint32Array(count).fill(1);
    this.#observed = new Uint32Array(count).fill(1);
    this.#item = new Template(Buffer.from(JSON.stringify(templateObject(kind))));
    this.#events = new Map(
      templateEvents(kind).map(([type, event]) => [`json ${type}`, new Template(Buffer.from(`${event}\n`))]),
    );
    if (kind === 'pod') {
      for (const [type, frame] of Object.entries(this.#setup!.podFrames)) {
        this.#events.set(`protobuf ${type}`, new Template(Buffer.from(frame, 'base64')));
      }
    }
  }

  item(index: number): Buffer {
    return this.#item.fill(this.#variables(index));
  }

  event(type: EventType, form: Form, index: number): Buffer {
    return this.#events.get(`${form} ${type}`)!.fill(this.#variables(index));
  }

  get endMarker(): (form: Form) => Buffer {
    return (form) =>
      this.#events
        .get(`${form} ${bookmark}`)!
        .fill({ index: 0, version: this.version, generation: 0, revision: 0, observed: 0 });
  }

  #variables(index: number): Variables {
    const revision = this.#revisions[index]!;
    return { index, version: this.#versions[index]!, generation: revision, revision, observed: this.#observed[index]! };
  }

  /** A new revision of an object; settled, or waiting for somebody to copy it into the status. */
  change(index: number, settled: boolean): void {
    this.version += 1;
    this.#versions[index] = this.version;
    this.#revisions[index]! += 1;
    if (settled) this.#observed[index] = this.#revisions[index]!;
    else this.#asked.set(index, performance.now());
  }

  patched(index: number): void {
    const sent = this.#asked.get(index);
    if (sent !== undefined) {
      this.#latencies.push(performance.now() - sent);
      this.#asked.delete(index);
    }
    this.version += 1;
    this.#versions[index] = this.version;
    this.#observed[index] = this.#revisions[index]!;
    this.broadcast('MODIFIED', index);
    if (this.#asked.size === 0) this.#patched?.();
  }

  broadcast(type: EventType, index: number): void {
    for (const stream of this.streams) stream.full = !stream.response.write(this.event(type, stream.form, index));
  }

  /** Waits for clients that are behind. */
  async drained(): Promise<void> {
    for (const stream of this.streams) while (stream.full) await turn();
  }

  async allPatched(): Promise<void> {
    while (this.#asked.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#patched = resolve;
      await promise;
    }
  }

  takeLatencies(): number[] {
    const latencies = this.#latencies;
    this.#latencies = [];
    return latencies;
  }
}

/** The watch events of a kind as JSON texts, with stand-ins. */
export function templateEvents(kind: BenchKind): [EventType, string][] {
  const object = templateObject(kind);
  const { apiVersion } = object;
  const marker = {
    kind: object.kind,
    apiVersion,
    metadata: {
      resourceVersion: object.metadata['resourceVersion'],
      creationTimestamp: null,
      annotations: { 'k8s.io/initial-events-end': 'true' },
    },
  };
  return [
    ['ADDED', JSON.stringify({ type: 'ADDED', object })],
    ['MODIFIED', JSON.stringify({ type: 'MODIFIED', object })],
    [bookmark, JSON.stringify({ type: bookmark, object: marker })],
  ];
}

const world = new World();

async function handle(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
  const url = new URL(request.url, 'https://server');
  const accept = request.headers.accept ?? '';
  const json = (body: unknown, status = 200) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const discovery = discoveryOf(url.pathname);
  if (discovery) return json(discovery);
  world.requests += 1;
  if (request.method === 'PATCH') return await patch(request, response, url.pathname);
  if (url.pathname.endsWith('/configmaps')) return await serveChildren(url, response, json);
  if (/\/(websites|pods)$/.test(url.pathname)) {
    if (url.searchParams.get('watch')) return await watch(url, accept, response);
    return await list(url, response);
  }
  return json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound' }, 404);
}

async function watch(url: URL, accept: string, response: Http2ServerResponse): Promise<void> {
  const form: Form = world.kind === 'pod' && accept.includes('protobuf') ? 'protobuf' : 'json';
  response.writeHead(200, {
    'content-type': form === 'json' ? 'application/json' : 'application/vnd.kubernetes.protobuf;stream=watch',
  });
  if (url.searchParams.get('sendInitialEvents') === 'true') {
    for (let index = 0; index < world.count; index += 1) {
      const free = response.write(world.event('ADDED', form, index));
      // As the real server, several to a flush while more are waiting.
      if (!free) await once(response, 'drain');
      else if (index % 8 === 7) await turn();
    }
    response.write(world.endMarker(form));
  }
  const stream: Stream = { response, form, full: false };
  world.streams.add(stream);
  response.on('drain', () => {
    stream.full = false;
  });
  response.on('close', () => world.streams.delete(stream));
}

async function list(url: URL, response: Http2ServerResponse): Promise<void> {
  const limit = Number(url.searchParams.get('limit') ?? 0) || world.count;
  const from = Number(url.searchParams.get('continue') ?? 0);
  const to = Math.min(world.count, from + limit);
  const { apiVersion, kind } = templateObject(world.kind);
  response.writeHead(200, { 'content-type': 'application/json' });
  const rest = to < world.count ? `,"continue":"${to}","remainingItemCount":${world.count - to}` : '';
  response.write(
    `{"kind":"${kind}List","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${10 ** 9 + world.version}"${rest}},"items":[`,
  );
  for (let index = from; index < to; index += 1) {
    if (index > from) response.write(',');
    if (!response.write(world.item(index))) await once(response, 'drain');
  }
  response.end(']}');
}

async function serveChildren(url: URL, response: Http2ServerResponse, json: (body: unknown) => void): Promise<void> {
  const item = (index: number) => ({
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {
      name: `child-${index}`,
      namespace: 'namespace-10000000',
      uid: `7f1c2b34-0000-4000-8000-${String(index).padStart(12, '0')}`,
      resourceVersion: '1',
      ownerReferences: [
        { apiVersion: 'example.com/v1', kind: 'Website', name: objectName('website', 0), uid: 'u', controller: true },
      ],
    },
  });
  const items = Array.from({ length: children }, (_, index) => item(index));
  if (!url.searchParams.get('watch')) {
    json({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '1' },
      items,
    });
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(
    url.searchParams.get('sendInitialEvents') === 'true'
      ? [
          ...items.map((object) => ({ type: 'ADDED', object })),
          {
            type: bookmark,
            object: {
              kind: 'PartialObjectMetadata',
              apiVersion: 'meta.k8s.io/v1',
              metadata: {
                resourceVersion: '1',
                creationTimestamp: null,
                annotations: { 'k8s.io/initial-events-end': 'true' },
              },
            },
          },
        ]
          .map((event) => `${JSON.stringify(event)}\n`)
          .join('')
      : '\n',
  );
}

async function patch(request: Http2ServerRequest, response: Http2ServerResponse, path: string): Promise<void> {
  const name = path.split('/').at(-2)!;
  const index = indexOfName(name);
  for await (const _chunk of request);
  world.patched(index);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(world.item(index));
}

function discoveryOf(path: string): unknown {
  const resource = (name: string, kind: string) => ({
    name,
    singularName: kind.toLowerCase(),
    namespaced: true,
    kind,
    verbs: ['get', 'list', 'watch', 'patch'],
  });
  const version = { groupVersion: 'example.com/v1', version: 'v1' };
  const group = { name: 'example.com', versions: [version], preferredVersion: version };
  switch (path) {
    case '/version':
      return { major: '1', minor: '36', gitVersion: 'v1.36.0' };
    case '/api':
      return { kind: 'APIVersions', versions: ['v1'] };
    case '/api/v1':
      return {
        kind: 'APIResourceList',
        groupVersion: 'v1',
        resources: [resource('pods', 'Pod'), resource('configmaps', 'ConfigMap')],
      };
    case '/apis':
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: [group] };
    case '/apis/example.com':
      return { kind: 'APIGroup', apiVersion: 'v1', ...group };
    case '/apis/example.com/v1':
      return {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: 'example.com/v1',
        resources: [resource('websites', 'Website')],
      };
    default:
      return undefined;
  }
}

async function burst(events: number): Promise<void> {
  for (let sent = 0; sent < events; sent += 1) {
    const index = sent % world.count;
    world.change(index, true);
    // One flush for each event: what is written in one turn goes out together.
    world.broadcast('MODIFIED', index);
    await turn();
    await world.drained();
  }
  const last = world.count - 1;
  world.change(last, false);
  world.broadcast('MODIFIED', last);
  await world.allPatched();
  world.takeLatencies();
}

async function steady(events: number, perSecond: number, write: boolean): Promise<SteadyResult> {
  const begin = performance.now();
  const before = world.requests;
  for (let sent = 0; sent < events; sent += 1) {
    const due = begin + (sent * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    else await turn();
    const index = (sent * 7) % world.count;
    world.change(index, !write);
    world.broadcast('MODIFIED', index);
  }
  await world.allPatched();
  const latencies = world.takeLatencies();
  return {
    requests: world.requests - before,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

async function obey(call: ServerCall): Promise<unknown> {
  switch (call.call) {
    case 'setup': {
      world.setup(call.setup);
      const server = createSecureServer({
        cert: call.setup.certificate,
        key: call.setup.key,
        allowHTTP1: true,
        settings: { initialWindowSize: 1 << 20 },
      });
      server.on('request', (request, response) => {
        handle(request, response).catch((error: unknown) => response.destroy(error as Error));
      });
      // Plain HTTP servers do so by themselves; without it a small event waits for the acknowledgement of the one before.
      server.on('connection', (socket) => socket.setNoDelay(true));
      // Clients are killed while the server writes to them.
      server.on('sessionError', () => undefined);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    }
    case 'load':
      world.load(call.kind, call.count);
      return undefined;
    case 'burst':
      await burst(call.events);
      return undefined;
    case 'steady':
      return await steady(call.events, call.perSecond, call.write);
  }
}

if (process.send) {
  process.on('message', (call: ServerCall) => {
    obey(call).then(
      (result) => process.send!({ result }),
      (error: unknown) => process.send!({ error: String(error) }),
    );
  });
}
