import type { Admission } from '../admission/admission.ts';
import type { Auth, UserInfo } from '../auth/auth.ts';
import type { Clock } from '../clock.ts';
import type { Representation } from '../http/negotiate.ts';
import type { ApiObject } from '../object.ts';
import type { Random } from '../random.ts';
import type { Registry } from '../registry.ts';
import type { Resource, StrategyContext } from '../resource.ts';
import { keyOf } from '../store/entry.ts';
import type { Store } from '../store/store.ts';

/** What every request handler works with. */
export interface Core {
  readonly registry: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly auth: Auth;
  readonly admission: Admission;
}

/** One request to a resource, after routing, authentication and content negotiation. */
export interface ResourceRequest {
  readonly resource: Resource;
  /** Empty for cluster-scoped resources and for requests over all namespaces. */
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  /** Empty when there is none. */
  readonly subresource: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array | undefined;
  readonly user: UserInfo;
  readonly representation: Representation;
  /** Texts for `Warning` headers. */
  readonly warnings: string[];
  /** How many revisions reads lag behind; 0 unless a fault says otherwise. */
  readonly staleBy: number;
}

export function header(request: Pick<ResourceRequest, 'headers'>, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

export function strategyContext(core: Core, dryRun: boolean): StrategyContext {
  return {
    clock: core.clock,
    random: core.random,
    dryRun,
    lookup: (storageId, namespace, name) => core.store.get(storageId, keyOf(namespace, name))?.object,
    *scan(storageId): Iterable<ApiObject> {
      for (const entry of core.store.list(storageId)) yield entry.object;
    },
  };
}

/** What an error calls an object: custom resources may have come with a kind of their own. */
export function namedKind(resource: Resource, object: ApiObject): { group: string; plural: string; kind: string } {
  const { group, plural, kind } = resource;
  // Events of both groups are checked as those of the core.
  if (group === 'events.k8s.io') return { group: '', plural, kind };
  return { group, plural, kind: (resource.custom && object.kind) || kind };
}
