import { admitAll, type Admission } from './admission/admission.ts';
import { ApiError, internalError, notFound } from './api-error.ts';
import { permissiveAuth, type Auth, type Credentials, type UserInfo } from './auth/auth.ts';
import { loadCel } from './cel/late-cel.ts';
import { systemClock, type Clock } from './clock.ts';
import { ConnectionLost, Faults, type FaultEffects } from './faults.ts';
import { bodyLimit, tooLarge } from './http/body-limit.ts';
import { forbiddenAnswer, unauthorized } from './http/denials.ts';
import { methodNotAllowed, pathNotFound, resourceNotFound } from './http/misses.ts';
import { mortalStream } from './http/mortal-stream.ts';
import { negotiate } from './http/negotiate.ts';
import { renderStatus, render } from './http/render.ts';
import { routeOf, type Route } from './http/route.ts';
import { otherPaths } from './http/other-paths.ts';
import { warningHeaders } from './http/warnings.ts';
import type { ApiObject } from './object.ts';
import { systemRandom, type Random } from './random.ts';
import type { Registry } from './registry.ts';
import type { Answer } from './request/answer.ts';
import type { Core, ResourceRequest } from './request/core.ts';
import { authorizedPlace } from './request/authorized-place.ts';
import { dispatch, verbOf } from './request/dispatch.ts';
import type { Resource } from './resource.ts';
import { loadYaml } from './schema/yaml-text.ts';
import type { Store } from './store/store.ts';

/** A request as any transport hands it to the server. */
export interface ApiRequest {
  /** Upper case. */
  readonly method: string;
  /** Path and query as sent, starting with `/`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: Uint8Array;
  /** Who an in-process caller says it is. Socket transports leave it unset. */
  readonly user?: UserInfo;
  /** A request of the cluster's own controllers; faults and interceptors leave it alone. */
  readonly internal?: boolean;
  /** Subject of a verified client certificate. */
  readonly clientCertificate?: NonNullable<Credentials['clientCertificate']>;
}

export interface ApiResponse {
  readonly status: number;
  /** Header names in lower case; several `warning` headers are an array. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Absent when the answer is a stream. */
  readonly body?: Uint8Array;
  /** Starts a streamed answer (a watch). To be called exactly once. */
  readonly stream?: (sink: StreamSink) => { close(): void };
}

export interface StreamSink {
  /** False means: the receiver is behind. Who writes had better wait for {@link onceDrained}. */
  write(chunk: Uint8Array): boolean;
  /** Calls back once when the receiver has caught up. Without it the receiver is never behind. */
  onceDrained?(resume: () => void): void;
  /** Takes the events of a watch as they are stored, instead of `write`. What it is given is shared and must not be changed. */
  event?(type: string, object: ApiObject): void;
  end(): void;
  /** Ends the stream as a broken connection does. */
  fail?(error: Error): void;
}

export interface ApiServerOptions {
  readonly registry: Registry;
  readonly store: Store;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: everyone is the administrator. */
  readonly auth?: Auth;
  /** Default: everything is admitted. */
  readonly admission?: Admission;
  readonly faults?: Faults;
}

/** The server itself, without any socket. */
export class ApiServer {
  readonly registry: Registry;
  readonly store: Store;
  readonly faults: Faults;
  readonly #core: Core;
  readonly #other: ReturnType<typeof otherPaths>;
  readonly #streams = new Set<() => void>();
  #closed = false;

  constructor(options: ApiServerOptions) {
    this.registry = options.registry;
    this.store = options.store;
    const clock = options.clock ?? systemClock;
    this.faults = options.faults ?? new Faults(clock);
    this.#core = {
      registry: options.registry,
      store: options.store,
      clock,
      random: options.random ?? systemRandom,
      auth: options.auth ?? permissiveAuth,
      admission: options.admission ?? admitAll,
    };
    this.#other = otherPaths(this.#core);
  }

  /** Ends all watches and answers no more requests. */
  close(): void {
    this.#closed = true;
    for (const end of this.#streams) end();
  }

  /** Answers a request. Rejects only when a fault breaks the connection; every refusal is an answer. */
  async handle(request: ApiRequest): Promise<ApiResponse> {
    // Watchers are called inside a write; a request one of them sends must not be handled before that write is done.
    await Promise.resolve();
    if (this.#closed) throw new ConnectionLost('the server is closed');
    const warnings: string[] = [];
    let response: ApiResponse;
    try {
      response = await this.#answer(request, warnings);
    } catch (error) {
      if (error instanceof ConnectionLost) throw error;
      response = failureOf(error);
    }
    const headers = { ...commonHeaders(warnings), ...response.headers };
    return response.stream
      ? { ...response, headers, stream: this.#tracked(response.stream) }
      : { ...response, headers };
  }

  /** Streams end with the server. */
  #tracked(start: NonNullable<ApiResponse['stream']>): NonNullable<ApiResponse['stream']> {
    return (sink) => {
      // Filled after the start, during which events may already come.
      const running: { inner?: { close(): void } } = {};
      const forget = () => this.#streams.delete(end);
      const end = () => {
        forget();
        running.inner?.close();
        sink.end();
      };
      this.#streams.add(end);
      running.inner = start({
        write: (chunk) => sink.write(chunk),
        ...(sink.onceDrained ? { onceDrained: (resume) => sink.onceDrained!(resume) } : {}),
        ...(sink.event ? { event: (type, object) => sink.event!(type, object) } : {}),
        end() {
          forget();
          sink.end();
        },
        ...(sink.fail
          ? {
              fail(error: Error) {
                forget();
                sink.fail!(error);
              },
            }
          : {}),
      });
      return {
        close() {
          forget();
          running.inner?.close();
        },
      };
    };
  }

  async #answer(request: ApiRequest, warnings: string[]): Promise<ApiResponse> {
    if ((request.body?.length ?? 0) > bodyLimit) throw tooLarge();
    const question = request.path.indexOf('?');
    const path = question < 0 ? request.path : request.path.slice(0, question);
    const query = new URLSearchParams(question < 0 ? '' : request.path.slice(question + 1));
    const route = routeOf(path);
    const user = await this.#identify(request);
    const verb = route.to === 'resource' ? verbOf(request.method, route, query) : request.method.toLowerCase();
    const attributes = {
      user,
      verb,
      path,
      ...(route.to === 'resource' ? { resource: authorizedPlace(route, verb, query) } : {}),
    };
    const decision = await this.#core.auth.authorizer.authorize(attributes);
    if (!decision.allowed) throw forbiddenAnswer(attributes, decision.reason);
    const handle = (effects: FaultEffects) =>
      route.to === 'other'
        ? this.#other(request, path, query)
        : this.#resource(request, route, verb, query, user, warnings, effects);
    if (request.internal || this.faults.idle) return handle({ staleBy: 0, killWatch: undefined });
    const asked = { ...attributes, ...(route.to === 'resource' ? { resource: route } : {}) };
    const around = await this.faults.before({ ...asked, method: request.method });
    let response: ApiResponse;
    try {
      response = await handle(around);
    } catch (error) {
      if (error instanceof ConnectionLost) throw error;
      response = failureOf(error);
    }
    await around.after(response.status);
    return around.killWatch && response.stream ? mortalStream(response, around.killWatch, this.#core.clock) : response;
  }

  async #identify(request: ApiRequest): Promise<UserInfo> {
    const { headers, user, clientCertificate } = request;
    const found = await this.#core.auth.authenticator.authenticate({
      headers,
      ...(user ? { user } : {}),
      ...(clientCertificate ? { clientCertificate } : {}),
    });
    if (!found) throw unauthorized();
    return found;
  }

  async #resource(
    request: ApiRequest,
    route: Extract<Route, { to: 'resource' }>,
    verb: string,
    query: URLSearchParams,
    user: UserInfo,
    warnings: string[],
    effects: FaultEffects,
  ): Promise<ApiResponse> {
    const resource = this.#find(route);
    if (!resource) {
      if (!this.registry.hasGroup(route.group)) return pathNotFound();
      const parent = this.registry.byPath(route.group, route.version, route.plural);
      if (parent?.custom && route.subresource) throw notFound(parent, route.name);
      throw resourceNotFound();
    }
    if (!verb) throw methodNotAllowed();
    if (resource.deprecationWarning) warnings.push(resource.deprecationWarning);
    const userAgent = request.headers['user-agent'];
    const accept = request.headers['accept'];
    const representation = negotiate({
      accept: typeof accept === 'string' ? accept : (accept?.join(',') ?? ''),
      query,
      userAgent: typeof userAgent === 'string' ? userAgent : '',
      custom: resource.custom,
      transformable: route.subresource === '' || route.subresource === 'status',
    });
    const described: ResourceRequest = {
      resource,
      namespace: route.namespace,
      name: route.name,
      subresource: route.subresource,
      query,
      headers: request.headers,
      body: request.body,
      user,
      representation,
      warnings,
      staleBy: effects.staleBy,
    };
    const loading = loadWhatIsNeeded(request, route);
    if (loading) await loading;
    const answer: Answer = await dispatch(this.#core, described, verb, route.watch);
    return render(answer, representation, this.#core.clock);
  }

  /** The resource at a path, if it can be there: objects of a namespaced resource need a namespace and vice versa. */
  #find(route: Extract<Route, { to: 'resource' }>): Resource | undefined {
    const resource = this.registry.byPath(route.group, route.version, route.plural);
    if (!resource) return undefined;
    if (!resource.namespaced && route.namespace) return undefined;
    if (resource.namespaced && !route.namespace && route.name) return undefined;
    if (route.subresource && !resource.subresources[route.subresource]) return undefined;
    return resource;
  }
}

/** Groups whose objects hold expressions, or rules that do. */
const groupsWithExpressions = new Set(['apiextensions.k8s.io', 'admissionregistration.k8s.io']);

/** What many clusters never use is loaded by the first request that may need it. */
function loadWhatIsNeeded(
  { method, headers }: ApiRequest,
  { group }: { readonly group: string },
): Promise<unknown> | undefined {
  if (method === 'GET') return undefined;
  const yaml = String(headers['content-type'] ?? '').includes('yaml') ? loadYaml() : undefined;
  const cel = groupsWithExpressions.has(group) ? loadCel() : undefined;
  return yaml && cel ? Promise.all([yaml, cel]) : (yaml ?? cel);
}

function commonHeaders(warnings: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {
    'audit-id': systemRandom.uuid(),
    'cache-control': 'no-cache, private',
  };
  if (warnings.length > 0) headers['warning'] = warningHeaders(warnings);
  return headers;
}

function failureOf(error: unknown): ApiResponse {
  if (error instanceof ApiError) return renderStatus(error.status, error.headers);
  const failure = internalError(error instanceof Error ? error.message : String(error));
  return renderStatus(failure.status, failure.headers);
}
