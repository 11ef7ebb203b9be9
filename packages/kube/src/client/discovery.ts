import { abortable } from '../abortable.ts';
import type { DiscoveredResource } from '../client.ts';
import type { Clock } from '../clock.ts';
import { InputError } from '../input-error.ts';
import { parseApiVersion, type Kind } from '../kind.ts';
import { recordAnswer } from './answers.ts';
import { isNotFound, isUnknownKind, KubeError } from '../kube-error.ts';
import { apiPath, isApiName } from '../resource-path.ts';

/** Fetches a path as JSON; what discovery needs of a client. */
export type FetchJson = (path: string, accept: string, signal?: AbortSignal) => Promise<unknown>;

const aggregated = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/**
 * What a server serves, remembered. Something missing is asked for again (a CRD may have appeared), but about the same
 * group and version at most once per `missIntervalMs`.
 */
export class Discovery {
  readonly #fetch: FetchJson;
  readonly #clock: Clock;
  readonly #missIntervalMs: number;
  #resources: readonly DiscoveredResource[] = [];
  #loadedAt: number | undefined;
  #loading: Promise<readonly DiscoveredResource[]> | undefined;
  readonly #asked = new Map<string, number>();

  constructor(fetch: FetchJson, clock: Clock, missIntervalMs: number) {
    this.#fetch = fetch;
    this.#clock = clock;
    this.#missIntervalMs = missIntervalMs;
  }

  async all(options: { fresh?: boolean; signal?: AbortSignal } = {}): Promise<readonly DiscoveredResource[]> {
    if (!options.fresh && this.#loadedAt !== undefined) return this.#resources;
    // One request for all who ask; none of them may cancel it for the others.
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    return abortable(this.#loading, options.signal);
  }

  async resolve(apiVersion: string, kind: string, signal?: AbortSignal): Promise<DiscoveredResource> {
    const { group, version } = parseApiVersion(apiVersion);
    const find = () => this.#resources.find((r) => r.group === group && r.version === version && r.kind === kind);
    if (this.#loadedAt === undefined) await this.all({ signal });
    const known = find();
    if (known) return known;
    if (this.#mayAsk(apiVersion)) await this.#loadGroupVersion(group, version, signal);
    return find() ?? unknown(`${kind} in ${apiVersion}`);
  }

  async resolveGroupKind(group: string, kind: string, signal?: AbortSignal): Promise<DiscoveredResource> {
    const find = () => {
      const candidates = this.#resources.filter((r) => r.group === group && r.kind === kind);
      return candidates.find((r) => r.preferred) ?? candidates[0];
    };
    if (this.#loadedAt === undefined) await this.all({ signal });
    const known = find();
    if (known) return known;
    if (this.#mayAsk('')) await this.all({ fresh: true, signal });
    return find() ?? unknown(`${kind} in group "${group}"`);
  }

  /** A request for this kind found nobody serving it: what is remembered is no longer true. */
  forget(kind: Pick<Kind, 'group' | 'version' | 'kind'>): void {
    this.#resources = this.#resources.filter(
      (r) => r.group !== kind.group || r.version !== kind.version || r.kind !== kind.kind,
    );
  }

  #mayAsk(what: string): boolean {
    const now = this.#clock.now();
    const last = what === '' ? (this.#asked.get('') ?? this.#loadedAt) : this.#asked.get(what);
    if (last !== undefined && now - last < this.#missIntervalMs) return false;
    this.#asked.set(what, now);
    return true;
  }

  async #load(): Promise<readonly DiscoveredResource[]> {
    const [core, groups] = await Promise.all([this.#loadRoot('/api'), this.#loadRoot('/apis')]);
    this.#resources = [...core, ...groups];
    this.#loadedAt = this.#clock.now();
    return this.#resources;
  }

  async #loadRoot(path: '/api' | '/apis'): Promise<DiscoveredResource[]> {
    const document = recordAnswer(await this.#fetch(path, aggregated), `discover ${path}`) as DiscoveryDocument;
    if (document.kind === 'APIGroupDiscoveryList') return readable(path, () => fromAggregated(document));
    return path === '/api' ? this.#legacyCore(document) : this.#legacyGroups(document);
  }

  async #legacyCore(document: DiscoveryDocument): Promise<DiscoveredResource[]> {
    const versions = readable('/api', () => (document.versions ?? []).map(versionName));
    const lists = await Promise.all(versions.map((version) => this.#fetchGroupVersion('', version, true)));
    return lists.flat();
  }

  async #legacyGroups(document: DiscoveryDocument): Promise<DiscoveredResource[]> {
    const served = readable('/apis', () =>
      (document.groups ?? []).flatMap(({ name, versions = [], preferredVersion }) =>
        versions.map(({ version }) => ({ name, version, preferred: preferredVersion?.version === version })),
      ),
    );
    const lists = await Promise.all(
      served.map(async ({ name, version, preferred }) => {
        try {
          return await this.#fetchGroupVersion(name, version, preferred);
        } catch {
          // One aggregated API that is down must not hide all the others.
          return [];
        }
      }),
    );
    return lists.flat();
  }

  async #fetchGroupVersion(
    group: string,
    version: string,
    preferred: boolean,
    signal?: AbortSignal,
  ): Promise<DiscoveredResource[]> {
    const path = apiPath({ group, version });
    const answer = await this.#fetch(path, 'application/json', signal);
    const list = recordAnswer(answer, `discover ${path}`) as LegacyResourceList;
    return readable(path, () => fromLegacy(list, group, version, preferred));
  }

  async #loadGroupVersion(group: string, version: string, signal?: AbortSignal): Promise<void> {
    const preferred = this.#resources.find((r) => r.group === group && r.preferred)?.version ?? version;
    let found: DiscoveredResource[];
    try {
      found = await this.#fetchGroupVersion(group, version, preferred === version, signal);
    } catch (error) {
      // What cannot be the name of an API is not served, either.
      if (isNotFound(error) || isUnknownKind(error) || error instanceof InputError) found = [];
      else throw error;
    }
    const others = this.#resources.filter((r) => r.group !== group || r.version !== version);
    this.#resources = [...others, ...found];
  }
}

/** A document that has another shape than discovery's is a bad answer, wherever reading it stumbles. */
function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const operation = `discover ${path}`;
    throw new KubeError(`the answer to ${operation} is not a discovery document`, {
      reason: 'BadAnswer',
      operation,
      cause,
    });
  }
}

/** Nobody who asked is to blame for a version that cannot be asked for. */
function versionName(value: unknown): string {
  if (!isApiName(value)) throw new TypeError('a version is not the name of one');
  return value;
}

function unknown(what: string): never {
  throw new KubeError(`the server does not serve ${what}; is its CustomResourceDefinition installed and established?`, {
    code: 404,
    reason: 'UnknownKind',
  });
}

interface DiscoveryDocument {
  kind?: string;
  items?: {
    metadata?: { name?: string };
    versions?: {
      version: string;
      freshness?: string;
      resources?: {
        resource: string;
        responseKind?: { kind?: string };
        scope: string;
        singularResource?: string;
        verbs?: string[];
        shortNames?: string[];
        categories?: string[];
        subresources?: { subresource: string }[];
      }[];
    }[];
  }[];
  versions?: unknown[];
  groups?: { name: string; preferredVersion?: { version: string }; versions?: { version: string }[] }[];
}

interface LegacyResourceList {
  resources?: {
    name: string;
    singularName?: string;
    namespaced?: boolean;
    kind: string;
    verbs?: string[];
    shortNames?: string[];
    categories?: string[];
  }[];
}

function fromAggregated(document: DiscoveryDocument): DiscoveredResource[] {
  const result: DiscoveredResource[] = [];
  for (const group of document.items ?? []) {
    for (const [index, version] of (group.versions ?? []).entries()) {
      for (const resource of version.resources ?? []) {
        const kind = resource.responseKind?.kind;
        // What no request could be made for is not served.
        if (typeof kind !== 'string' || !isApiName(resource.resource) || !isApiName(version.version)) continue;
        result.push({
          group: group.metadata?.name ?? '',
          version: version.version,
          kind,
          plural: resource.resource,
          singular: resource.singularResource ?? kind.toLowerCase(),
          scope: resource.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
          verbs: resource.verbs ?? [],
          shortNames: resource.shortNames ?? [],
          categories: resource.categories ?? [],
          subresources: (resource.subresources ?? []).map((s) => s.subresource),
          preferred: index === 0,
        });
      }
    }
  }
  return result;
}

function fromLegacy(
  list: LegacyResourceList,
  group: string,
  version: string,
  preferred: boolean,
): DiscoveredResource[] {
  const subresources = Map.groupBy(
    (list.resources ?? []).filter((r) => r.name.includes('/')),
    (r) => r.name.slice(0, r.name.indexOf('/')),
  );
  return (list.resources ?? [])
    .filter((r) => !r.name.includes('/'))
    .map((r) => ({
      group,
      version,
      kind: r.kind,
      plural: r.name,
      singular: r.singularName || r.kind.toLowerCase(),
      scope: r.namespaced ? 'Namespaced' : 'Cluster',
      verbs: r.verbs ?? [],
      shortNames: r.shortNames ?? [],
      categories: r.categories ?? [],
      subresources: (subresources.get(r.name) ?? []).map((s) => s.name.slice(r.name.length + 1)),
      preferred,
    }));
}
