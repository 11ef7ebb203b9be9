import type { Clock, Timer } from '../clock.ts';
import { kindText } from '../kind.ts';
import type { Random } from '../random.ts';
import { PageTokens } from '../page-tokens.ts';
import { maxAnswerBytes, type Transport } from '../transport.ts';
import { BackOff } from './back-off.ts';
import { parseBookmark } from './bookmark.ts';
import { type Breakdown, Connection, type ConnectionHandler, type ConnectionLimits } from './connection.ts';
import { EventScan } from './event-scan.ts';
import {
  brokenConnection,
  isExpired,
  isThrottled,
  isTooLarge,
  refusal,
  type RestartReason,
  type ServerStatus,
  serverStatus,
} from './failure.ts';
import { UndecodableError } from './json-bytes.ts';
import { LineSplitter } from './line-splitter.ts';
import { ListScan } from './list-scan.ts';
import type { ReflectorOptions, ReflectorReport, ReflectorTimings, ServerAbilities } from './options.ts';
import { PageBytes } from './page-bytes.ts';
import { listHeaders, queryPath, type ReflectorQuery, watchHeaders } from './query.ts';
import { parseVersion, type Version } from './resource-version.ts';
import type { Load, ReflectorSink } from './sink.ts';
import { TimeSlice, type YieldToLoop } from './time-slice.ts';

type State =
  | { readonly name: 'idle' }
  | { readonly name: 'stopped' }
  /** Between two tries. */
  | { readonly name: 'waiting'; timer: Timer | undefined }
  /** A watch that begins with the present objects; they are collected until the end marker. */
  | { readonly name: 'streaming'; readonly load: Load; connection: Connection | undefined }
  /** One page of a LIST is on its way. */
  | {
      readonly name: 'listing';
      readonly listing: Listing;
      readonly page: PageBytes;
      connection: Connection | undefined;
    }
  /** A page is being taken apart, a slice at a time. */
  | { readonly name: 'decoding'; readonly listing: Listing; readonly scan: ListScan }
  /** Changes arrive one by one. */
  | { readonly name: 'watching'; connection: Connection | undefined };

/** A LIST over several pages. */
interface Listing {
  readonly load: Load;
  /** Objects per page; 0: all at once, when the server forgot our place in the list. */
  readonly limit: number;
  continue: string;
  version: string;
  readonly pages: PageTokens;
  /** Objects in the page that is being taken apart. */
  objects: number;
}

/** A watch that the server ends sooner than this is not a watch. */
const shortestWatchMs = 1_000;

/** Lines that cannot be read, one watch after the other without anything readable between, before all is loaded anew. */
const maxUndecodableWatches = 3;

/**
 * Keeps a store in step with the objects of one query: loads them all, then follows their changes, for ever. There is no
 * error that ends it; only `stop` does. It is a state machine: `#enter` is the one place where the state changes, and it
 * closes what the old state had open, so there is never a second connection or timer.
 *
 * ```
 * idle → streaming ─────────────→ watching ⟲        any → waiting → streaming | listing | watching
 *          ↓ (not supported)         ↑  ↓ (410)      any → stopped
 *        listing ⇄ decoding ─────────┘  streaming | listing
 * ```
 */
export class Reflector {
  readonly #query: ReflectorQuery;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #yieldToLoop: YieldToLoop;
  readonly #sink: ReflectorSink;
  readonly #report: ReflectorReport;
  readonly #abilities: ServerAbilities;
  readonly #backOff: BackOff;
  readonly #timings: Required<Omit<ReflectorTimings, 'backOff'>>;
  readonly #event = new EventScan();
  #state: State = { name: 'idle' };
  /** Up to where changes have been seen. */
  #version: Version | undefined;
  /** The next load must not be content with "not older than what we have seen". */
  #consistent = false;
  /** Something was received since the last load: if not, its version is no good to the server. */
  #progressed = false;
  #unfinished: Load | undefined;
  #bookmarksSeen = false;
  #failedStreams = 0;
  #undecodableWatches = 0;

  constructor(options: ReflectorOptions) {
    this.#query = options.query;
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#yieldToLoop = options.yieldToLoop;
    this.#sink = options.sink;
    this.#report = options.report;
    this.#abilities = options.abilities;
    const { backOff, ...timings } = options.timings ?? {};
    this.#backOff = new BackOff(options.random, backOff);
    this.#timings = {
      pageSize: 500,
      answerMs: 60_000,
      stallMs: 30_000,
      heartbeatMs: 75_000,
      watchSeconds: 300,
      overdueMs: 30_000,
      streamTries: 3,
      ...timings,
    };
  }

  get stateName(): State['name'] {
    return this.#state.name;
  }

  /** Idempotent. */
  start(): void {
    if (this.#state.name === 'idle') this.#load();
  }

  stop(): void {
    this.#enter({ name: 'stopped' });
    this.#unfinished?.discard();
    this.#unfinished = undefined;
  }

  /** Forgets where the watch was and loads everything anew: the store has found something it cannot trust. */
  reload(): void {
    if (this.#state.name !== 'watching') return;
    this.#restart('reload', 'a reload was asked for');
    this.#consistent = true;
    this.#wait(this.#backOff.next(), () => this.#load());
  }

  #enter(state: State): void {
    const old = this.#state;
    if (old.name === 'stopped') return;
    if ('connection' in old && !('connection' in state && state.connection === old.connection)) old.connection?.close();
    if (old.name === 'waiting') old.timer?.cancel();
    this.#state = state;
  }

  #wait(delayMs: number, next: () => void): void {
    const state: State = { name: 'waiting', timer: undefined };
    this.#enter(state);
    if (this.#state !== state) return;
    state.timer = this.#clock.schedule(delayMs, () => {
      if (this.#state === state) next();
    });
  }

  // Loading

  #load(): void {
    if (this.#abilities.watchList && this.#failedStreams < this.#timings.streamTries) this.#stream();
    else this.#list(this.#timings.pageSize);
  }

  #loadVersion(): Version | undefined {
    return this.#consistent ? undefined : this.#version;
  }

  #stream(): void {
    const state: State = { name: 'streaming', load: this.#beginLoad(), connection: undefined };
    this.#enter(state);
    this.#openWatch(
      state,
      {
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        resourceVersion: this.#loadVersion(),
      },
      this.#timings.stallMs,
    );
  }

  #list(limit: number): void {
    const pages = new PageTokens(`list ${kindText(this.#query.kind)}`);
    this.#requestPage({ load: this.#beginLoad(), limit, continue: '', version: '', pages, objects: 0 });
  }

  #beginLoad(): Load {
    this.#unfinished?.discard();
    this.#unfinished = this.#sink.beginLoad();
    return this.#unfinished;
  }

  #requestPage(listing: Listing): void {
    const state: State = { name: 'listing', listing, page: new PageBytes(), connection: undefined };
    this.#enter(state);
    const version = listing.continue || listing.limit === 0 ? undefined : this.#loadVersion();
    const path = queryPath(this.#query, {
      limit: listing.limit || undefined,
      continue: listing.continue || undefined,
      resourceVersion: version,
      resourceVersionMatch: version === undefined ? undefined : 'NotOlderThan',
    });
    this.#open(
      state,
      path,
      listHeaders(this.#query),
      { answerMs: this.#timings.answerMs, silenceMs: this.#timings.stallMs },
      {
        data: (chunk) => {
          if (!state.page.add(chunk)) {
            state.connection?.close();
            this.#undecodable(new UndecodableError(`a page is larger than ${maxAnswerBytes} bytes`));
          }
        },
        ended: () => this.#decodePage(listing, state.page.take()),
      },
    );
  }

  #decodePage(listing: Listing, page: Buffer): void {
    try {
      const state: State = { name: 'decoding', listing, scan: new ListScan(page) };
      this.#enter(state);
      this.#decodeSlice(state);
    } catch (error) {
      this.#undecodable(error);
    }
  }

  #decodeSlice(state: Extract<State, { name: 'decoding' }>): void {
    const { listing, scan } = state;
    const slice = new TimeSlice(this.#clock);
    try {
      while (scan.next()) {
        scan.itemEnds(listing.load.putItem(scan.bytes, scan.itemStart));
        listing.objects += 1;
        if (slice.isOver) {
          this.#yieldToLoop(() => {
            if (this.#state === state) this.#decodeSlice(state);
          });
          return;
        }
      }
      if (scan.meta.continue) listing.pages.next(scan.meta.continue, listing.objects);
      listing.objects = 0;
    } catch (error) {
      this.#undecodable(error);
      return;
    }
    listing.version ||= scan.meta.resourceVersion ?? '';
    if (scan.meta.continue) {
      listing.continue = scan.meta.continue;
      this.#requestPage(listing);
      return;
    }
    this.#commit(listing.load, parseVersion(listing.version));
    if (this.#state === state) this.#watch();
  }

  #commit(load: Load, version: Version): void {
    this.#version = version;
    this.#consistent = false;
    this.#progressed = false;
    this.#report.problem(undefined);
    this.#unfinished = undefined;
    load.commit(version);
    this.#sink.flush();
  }

  // Watching

  #watch(): void {
    const state: State = { name: 'watching', connection: undefined };
    this.#enter(state);
    this.#openWatch(
      state,
      { resourceVersion: this.#version },
      this.#bookmarksSeen ? this.#timings.heartbeatMs : undefined,
    );
  }

  #openWatch(
    state: Extract<State, { name: 'streaming' | 'watching' }>,
    parameters: Readonly<Record<string, string | number | boolean | undefined>>,
    silenceMs: number | undefined,
  ): void {
    const { watchSeconds, overdueMs, answerMs } = this.#timings;
    const timeoutSeconds = watchSeconds + Math.floor(this.#random.next() * (watchSeconds + 1));
    const splitter = new LineSplitter((bytes, start, end) => this.#line(bytes, start, end));
    const path = queryPath(this.#query, { watch: true, allowWatchBookmarks: true, timeoutSeconds, ...parameters });
    this.#open(
      state,
      path,
      watchHeaders(this.#query),
      { answerMs, silenceMs, lifetimeMs: timeoutSeconds * 1000 + overdueMs },
      {
        data: (chunk) => this.#received(() => splitter.push(chunk)),
        ended: () => {
          const { connection } = state;
          this.#received(() => splitter.end());
          // The last line may have been an error, and then the next connection is under way already.
          if ('connection' in this.#state && this.#state.connection === connection) this.#closed();
        },
      },
    );
  }

  #received(take: () => void): void {
    this.#report.activity(this.#clock.now());
    try {
      take();
    } catch (error) {
      if (!(error instanceof StreamOver)) this.#undecodable(error);
    }
    this.#sink.flush();
  }

  /** One line of a watch. Throws `StreamOver` when the rest of the chunk is of no use any more. */
  #line(bytes: Buffer, start: number, end: number): void {
    const state = this.#state;
    if (state.name !== 'watching' && state.name !== 'streaming') throw new StreamOver();
    const event = this.#event;
    event.scan(bytes, start, end);
    const { type, objectStart, objectEnd } = event;
    if (type === 'ERROR') {
      const status = serverStatus(500, bytes.subarray(objectStart, objectEnd));
      this.#refused(status);
      throw new StreamOver();
    }
    if (type === 'BOOKMARK') {
      this.#bookmark(state, bytes.toString('utf8', objectStart, objectEnd));
      return;
    }
    if (state.name === 'watching') {
      this.#version = this.#sink.apply(type, bytes, objectStart, objectEnd);
      this.#progressed = true;
      this.#undecodableWatches = 0;
      return;
    }
    // Versions of these come in any order: none of them says how far we are.
    if (type === 'DELETED') state.load.remove(bytes, objectStart, objectEnd);
    else state.load.put(bytes, objectStart, objectEnd);
  }

  #bookmark(state: Extract<State, { name: 'streaming' | 'watching' }>, text: string): void {
    const { version, endsList } = parseBookmark(text);
    if (state.name === 'streaming') {
      if (!endsList) return;
      const { connection } = state;
      this.#failedStreams = 0;
      this.#enter({ name: 'watching', connection });
      this.#bookmarksSeen = true;
      connection?.limitSilence(this.#timings.heartbeatMs);
      this.#commit(state.load, version);
      return;
    }
    this.#version = version;
    this.#progressed = true;
    this.#undecodableWatches = 0;
    this.#bookmarksSeen = true;
    state.connection?.limitSilence(this.#timings.heartbeatMs);
    this.#sink.caughtUp(version);
  }

  /** The server ended a watch. That is how every watch ends, so it is no failure unless it ended at once. */
  #closed(): void {
    const state = this.#state;
    if (state.name === 'streaming') {
      this.#streamFailed('no-end-marker', 'the stream ended before all objects were sent');
      return;
    }
    if (state.name !== 'watching') return;
    const healthyMs = state.connection?.healthyMs ?? 0;
    this.#backOff.wasHealthy(healthyMs);
    this.#restart('closed', 'the server ended the watch');
    if (healthyMs >= shortestWatchMs) this.#watch();
    else this.#wait(this.#backOff.next(), () => this.#watch());
  }

  // Failures

  #open(
    state: Extract<State, { name: 'streaming' | 'listing' | 'watching' }>,
    path: string,
    headers: Readonly<Record<string, string>>,
    limits: ConnectionLimits,
    handler: Pick<ConnectionHandler, 'data' | 'ended'>,
  ): void {
    if (this.#state !== state) return;
    const connection = new Connection(
      this.#clock,
      this.#yieldToLoop,
      {
        accepted: () => {
          if (this.#state.name === 'watching') this.#report.problem(undefined);
        },
        data: (chunk) => handler.data(chunk),
        ended: () => handler.ended(),
        refused: (code, answerHeaders, body) => this.#refused(serverStatus(code, body, answerHeaders)),
        broke: (breakdown, detail) => this.#broke(breakdown, detail),
      },
      limits,
    );
    state.connection = connection;
    connection.open(this.#transport, { method: 'GET', path, headers });
  }

  #broke(breakdown: Breakdown, detail: string): void {
    const state = this.#state;
    const problem = brokenConnection(this.#query, state.name === 'listing' ? 'list' : 'watch', detail);
    if (state.name === 'streaming') {
      this.#report.problem(problem);
      // Silence means that the end marker will not come: more tries would only wait as long again.
      if (breakdown === 'silent') this.#failedStreams = this.#timings.streamTries;
      this.#streamFailed(breakdown === 'silent' ? 'no-end-marker' : breakdown, detail);
      return;
    }
    if (state.name === 'listing') {
      this.#report.problem(problem);
      this.#restart(breakdown, detail);
      this.#wait(this.#backOff.next(), () => this.#requestPage(state.listing));
      return;
    }
    if (state.name !== 'watching') return;
    this.#backOff.wasHealthy(state.connection?.healthyMs ?? 0);
    this.#restart(breakdown, detail);
    // A guard that fired has waited long enough; it says nothing about the health of the server.
    if (breakdown === 'silent' || breakdown === 'overdue') {
      this.#watch();
      return;
    }
    this.#report.problem(problem);
    this.#wait(breakdown === 'no-answer' ? 0 : this.#backOff.next(), () => this.#watch());
  }

  #streamFailed(reason: RestartReason, detail: string): void {
    this.#failedStreams += 1;
    this.#restart(reason, detail);
    if (this.#failedStreams >= this.#timings.streamTries) this.#load();
    else this.#wait(this.#backOff.next(), () => this.#load());
  }

  /** The server said no, as an HTTP status or in the stream. */
  #refused(status: ServerStatus): void {
    const state = this.#state;
    if (state.name !== 'streaming' && state.name !== 'listing' && state.name !== 'watching') return;
    if (state.name === 'watching') this.#backOff.wasHealthy(state.connection?.healthyMs ?? 0);
    if (isExpired(status)) {
      this.#expired(state);
      return;
    }
    if (isTooLarge(status)) {
      const again = this.#consistent;
      this.#consistent = true;
      this.#restart('too-large-version', status.message);
      if (again || state.name === 'watching') this.#wait(this.#backOff.next(), () => this.#load());
      else this.#load();
      return;
    }
    if (state.name === 'streaming' && isNotSupported(status)) {
      // 422 is how kube-apiserver refuses the parameter; anything else may be the whim of one aggregated API.
      if (status.code === 422) this.#abilities.watchList = false;
      else this.#failedStreams = this.#timings.streamTries;
      this.#restart('refused', 'the server cannot stream lists');
      this.#load();
      return;
    }
    this.#report.problem(refusal(this.#query, state.name === 'listing' ? 'list' : 'watch', status));
    const throttled = isThrottled(status);
    const serverError = status.code >= 500 && !throttled;
    this.#restart(
      throttled ? 'throttled' : serverError ? 'server-error' : 'refused',
      `${status.code} ${status.message}`,
    );
    if (state.name === 'streaming' && serverError) this.#failedStreams += 1;
    const delayMs =
      status.retryAfterSeconds === undefined
        ? this.#backOff.next()
        : status.retryAfterSeconds * 1000 * (1 + 0.1 * this.#random.next());
    this.#wait(delayMs, () => {
      if (state.name === 'listing') this.#requestPage(state.listing);
      else if (state.name === 'streaming' || isNotSupported(status) || status.code === 404) this.#load();
      else this.#watch();
    });
  }

  /** 410: the server has forgotten what happened since our version, or our place in the list. */
  #expired(state: Extract<State, { name: 'streaming' | 'listing' | 'watching' }>): void {
    this.#restart('expired', 'the version is too old');
    if (state.name === 'watching') {
      const fresh = !this.#progressed;
      // A version that came from a load a moment ago and is too old already: only a consistent read can give a better one.
      if (fresh) this.#consistent = true;
      if (fresh) this.#wait(this.#backOff.next(), () => this.#load());
      else this.#load();
      return;
    }
    const again = this.#consistent;
    this.#consistent = true;
    const lostPlace = state.name === 'listing' && state.listing.continue !== '';
    const next = () => (lostPlace ? this.#list(0) : this.#load());
    if (again && !lostPlace) this.#wait(this.#backOff.next(), next);
    else next();
  }

  #undecodable(error: unknown): void {
    const state = this.#state;
    const detail = `the server sent something that cannot be read (${error instanceof Error ? error.message : String(error)})`;
    const problem = brokenConnection(
      this.#query,
      state.name === 'decoding' || state.name === 'listing' ? 'list' : 'watch',
      detail,
    );
    this.#report.problem(problem);
    if (state.name === 'streaming') {
      this.#streamFailed('undecodable', detail);
      return;
    }
    this.#restart('undecodable', detail);
    if (state.name === 'decoding' || state.name === 'listing') {
      // From the first page on: what the torn one held may be gone when it is asked for again.
      this.#wait(this.#backOff.next(), () => this.#list(state.listing.limit));
      return;
    }
    this.#undecodableWatches += 1;
    if (this.#undecodableWatches >= maxUndecodableWatches) {
      this.#undecodableWatches = 0;
      this.#consistent = true;
      this.#wait(this.#backOff.next(), () => this.#load());
    } else this.#wait(this.#backOff.next(), () => this.#watch());
  }

  #restart(reason: RestartReason, detail: string): void {
    this.#report.restarted(reason);
    const fields = { kind: kindText(this.#query.kind), namespace: this.#query.namespace, reason, detail };
    if (reason === 'closed') this.#report.debug('watch ended', fields);
    else this.#report.warn('watch interrupted', fields);
  }
}

/** Leaves the splitter in the middle of a chunk when the stream it came from is no longer ours. */
class StreamOver extends Error {}

/** What servers answer that do not know streamed lists. */
const isNotSupported = (status: ServerStatus) => [400, 405, 406, 415, 422, 501].includes(status.code);
