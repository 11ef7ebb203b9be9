import { ApiError, conflict } from './api-error.ts';
import type { RequestAttributes } from './auth/auth.ts';
import type { Clock } from './clock.ts';

/** Thrown instead of an answer when the connection is, or is made to look, gone. */
export class ConnectionLost extends Error {
  readonly code = 'ECONNRESET';

  constructor(message = 'connection lost') {
    super(message);
    this.name = 'ConnectionLost';
  }
}

/** Which requests a rule is about. What is left out matches everything. */
export interface FaultMatch {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; a list matches any of them. */
  readonly verb?: string | readonly string[];
  readonly group?: string;
  /** Plural, such as `configmaps`; with a subresource `pods/status`. */
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
  /** How many requests are hit before the rule is spent. Default: no end. */
  readonly times?: number;
  /** How many matching requests pass before the rule begins. Default 0. */
  readonly skip?: number;
}

export type FaultAction =
  /** The request waits this long before it is handled. */
  | { readonly type: 'delay'; readonly delayMs: number }
  /** The connection breaks `before` the request has any effect (default) or `after` it had, but before the answer. */
  | { readonly type: 'drop'; readonly when?: 'before' | 'after' }
  /** The server refuses. */
  | {
      readonly type: 'error';
      readonly status: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** The answer to a write is 409, as if someone had written in between. */
  | { readonly type: 'conflict' }
  /** Reads and lists answer from this many revisions ago (as far as history reaches). Default 1. */
  | { readonly type: 'staleRead'; readonly revisions?: number }
  /** A watch ends after this many events (default 0) or this long, cleanly or as a broken connection (default). */
  | { readonly type: 'killWatch'; readonly afterEvents?: number; readonly afterMs?: number; readonly clean?: boolean }
  /** Whatever a test wants to do at that moment, before or after the effect; throwing breaks the connection. */
  | { readonly type: 'call'; readonly when?: 'before' | 'after'; readonly run: () => void | Promise<void> };

export interface FaultRule {
  readonly match?: FaultMatch;
  readonly action: FaultAction;
}

/** A request as interceptors see it. */
export interface InterceptedRequest extends RequestAttributes {
  readonly method: string;
  /** Set after the effect. */
  readonly status?: number;
}

/** Called around every request; `'drop'` or throwing breaks the connection. */
export type Interceptor = (
  request: InterceptedRequest,
  phase: 'before' | 'after',
) => void | 'drop' | Promise<void | 'drop'>;

/** What rules ask the server to do differently with one request. */
export interface FaultEffects {
  readonly staleBy: number;
  readonly killWatch: Extract<FaultAction, { type: 'killWatch' }> | undefined;
}

interface ActiveRule {
  readonly rule: FaultRule;
  seen: number;
  hit: number;
}

/** Makes the server misbehave on purpose, towards everyone but its own controllers. */
export class Faults {
  readonly #clock: Clock;
  readonly #rules: ActiveRule[] = [];
  readonly #interceptors = new Set<Interceptor>();

  constructor(clock: Clock, rules: readonly FaultRule[] = []) {
    this.#clock = clock;
    for (const rule of rules) this.add(rule);
  }

  /** Adds a rule; the answer takes it away again. */
  add(rule: FaultRule): { remove(): void; readonly hits: number } {
    const active: ActiveRule = { rule, seen: 0, hit: 0 };
    this.#rules.push(active);
    return {
      remove: () => {
        const index = this.#rules.indexOf(active);
        if (index >= 0) this.#rules.splice(index, 1);
      },
      get hits() {
        return active.hit;
      },
    };
  }

  clear(): void {
    this.#rules.length = 0;
  }

  intercept(interceptor: Interceptor): () => void {
    this.#interceptors.add(interceptor);
    return () => this.#interceptors.delete(interceptor);
  }

  get idle(): boolean {
    return this.#rules.length === 0 && this.#interceptors.size === 0;
  }

  /** What happens before a request is handled, and the check that is due after it. */
  async before(request: InterceptedRequest): Promise<FaultEffects & { after(status: number): Promise<void> }> {
    const hit = this.#rules.filter((active) => strikes(active, request)).map(({ rule }) => rule.action);
    for (const interceptor of this.#interceptors) {
      if ((await interceptor(request, 'before')) === 'drop') throw new ConnectionLost();
    }
    let staleBy = 0;
    let killWatch: FaultEffects['killWatch'];
    for (const action of hit) {
      if (action.type === 'delay') await this.#sleep(action.delayMs);
      else if (action.type === 'drop' && action.when !== 'after') throw new ConnectionLost();
      else if (action.type === 'error') throw refusal(action);
      else if (action.type === 'conflict') throw conflictFor(request);
      else if (action.type === 'staleRead') staleBy = action.revisions ?? 1;
      else if (action.type === 'killWatch') killWatch = action;
      else if (action.type === 'call' && action.when !== 'after') await action.run();
    }
    return { staleBy, killWatch, after: (status) => this.#after({ ...request, status }, hit) };
  }

  async #after(request: InterceptedRequest, hit: readonly FaultAction[]): Promise<void> {
    for (const action of hit) {
      if (action.type === 'drop' && action.when === 'after') throw new ConnectionLost();
      if (action.type === 'call' && action.when === 'after') await action.run();
    }
    for (const interceptor of this.#interceptors) {
      if ((await interceptor(request, 'after')) === 'drop') throw new ConnectionLost();
    }
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.schedule(delayMs, resolve);
    });
  }
}

function strikes(active: ActiveRule, request: InterceptedRequest): boolean {
  const match = active.rule.match ?? {};
  if (!matches(match, request)) return false;
  active.seen += 1;
  if (active.seen <= (match.skip ?? 0) || active.hit >= (match.times ?? Infinity)) return false;
  active.hit += 1;
  return true;
}

function matches(match: FaultMatch, { verb, resource, user }: InterceptedRequest): boolean {
  if (match.verb !== undefined && !(typeof match.verb === 'string' ? match.verb === verb : match.verb.includes(verb))) {
    return false;
  }
  if (match.user !== undefined && match.user !== user.name) return false;
  const { group, namespace, name } = match;
  if (match.resource === undefined && group === undefined && namespace === undefined && name === undefined) return true;
  if (!resource) return false;
  const [plural, subresource] = (match.resource ?? resource.plural).split('/');
  return (
    plural === resource.plural &&
    (match.resource === undefined || (subresource ?? '') === resource.subresource) &&
    (group === undefined || group === resource.group) &&
    (namespace === undefined || namespace === resource.namespace) &&
    (name === undefined || name === resource.name)
  );
}

function refusal(action: Extract<FaultAction, { type: 'error' }>): ApiError {
  const { status, retryAfterSeconds } = action;
  const reason = action.reason ?? reasons[status];
  return new ApiError(
    {
      code: status,
      ...(reason ? { reason } : {}),
      message: action.message ?? `injected fault ${status}`,
      ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
    },
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function conflictFor({ resource }: InterceptedRequest): ApiError {
  const named = { group: resource?.group ?? '', plural: resource?.plural ?? '', kind: '' };
  return conflict(
    named,
    resource?.name ?? '',
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}
