import { createHash } from 'node:crypto';

import type { Client, Clock, PolicyRule } from '@slipway/kube';

import type { PlainAnswer, PlainRequest } from './http-server.ts';

/** What a manager whose metrics need a token has to be allowed. */
export const metricsAccessRules: readonly PolicyRule[] = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

interface Decision {
  readonly refusal: PlainAnswer | undefined;
  readonly until: number;
}

const allowedMs = 60_000;
const refusedMs = 10_000;
const maxDecisions = 200;

interface TokenReview {
  status?: {
    authenticated?: boolean;
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
  };
}

interface SubjectAccessReview {
  status?: { allowed?: boolean };
}

/**
 * Who may read metrics: whoever the API server knows by the bearer token and allows to `get` the path, as controller-runtime's
 * filter has it. Decisions are kept for a while, so that a scrape does not cost two requests each time.
 */
export class MetricsAccess {
  readonly #client: Pick<Client, 'request'>;
  readonly #clock: Clock;
  readonly #decisions = new Map<string, Decision>();

  constructor(client: Pick<Client, 'request'>, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The answer to somebody who may not, or `undefined`. Rejects when the API server cannot be asked. */
  async refusal({ path, headers }: PlainRequest): Promise<PlainAnswer | undefined> {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return unauthorized;
    // Tokens are not kept, only what they hash to.
    const key = createHash('sha256').update(`${path}\n${token}`).digest('base64');
    const now = this.#clock.now();
    const known = this.#decisions.get(key);
    if (known && known.until > now) return known.refusal;
    const refusal = await this.#ask(token, path);
    if (this.#decisions.size >= maxDecisions) this.#decisions.clear();
    this.#decisions.set(key, { refusal, until: now + (refusal ? refusedMs : allowedMs) });
    return refusal;
  }

  async #ask(token: string, path: string): Promise<PlainAnswer | undefined> {
    const review = await this.#review<TokenReview>('authentication.k8s.io/v1', 'TokenReview', { token });
    const { authenticated = false, user } = review.status ?? {};
    if (!authenticated || !user?.username) return unauthorized;
    const { username, uid, groups, extra } = user;
    const access = await this.#review<SubjectAccessReview>('authorization.k8s.io/v1', 'SubjectAccessReview', {
      user: username,
      uid,
      groups,
      extra,
      nonResourceAttributes: { path, verb: 'get' },
    });
    return access.status?.allowed ? undefined : forbidden(username, path);
  }

  async #review<T>(apiVersion: string, kind: 'TokenReview' | 'SubjectAccessReview', spec: object): Promise<T> {
    const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
    return (await this.#client.request({ method: 'POST', path, body: { apiVersion, kind, spec } })) as T;
  }
}

const unauthorized: PlainAnswer = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer' },
  body: 'send the token of a ServiceAccount that may get /metrics: Authorization: Bearer …\n',
};

function forbidden(user: string, path: string): PlainAnswer {
  return {
    status: 403,
    body: `${user} may not get ${path}; bind it to a ClusterRole with nonResourceURLs: ["${path}"], verbs: ["get"]\n`,
  };
}
