import {
  aggregated,
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
  servedGroups,
  type ServedGroup,
} from '../discovery/discovery.ts';
import type { JsonObject } from '../object.ts';
import { openApi } from '../openapi/openapi.ts';
import type { Core } from '../request/core.ts';
import type { ApiRequest, ApiResponse } from '../server.ts';
import { methodNotAllowed, pathNotFound, resourceNotFound } from './misses.ts';
import { negotiate, parseAccept } from './negotiate.ts';
import { renderJson } from './render.ts';
import { versionDocument } from './version.ts';
import { nodeCrypto } from '../node-crypto.ts';

type Handler = (request: ApiRequest, path: string, query: URLSearchParams) => Promise<ApiResponse>;

/** Everything that is not about objects: discovery, schemas, version, health. Derived bytes are kept until the registry changes. */
export function otherPaths(core: Core): Handler {
  const { registry } = core;
  const documents = openApi(registry);
  let generation = -1;
  let groups: ServedGroup[] = [];
  let cache = new Map<string, { bytes: Buffer; etag: string }>();

  const refresh = () => {
    if (generation === registry.generation) return;
    generation = registry.generation;
    groups = servedGroups(registry);
    cache = new Map();
  };
  const cached = (name: string, make: () => JsonObject) => {
    let entry = cache.get(name);
    if (!entry) {
      const bytes = Buffer.from(`${JSON.stringify(make())}\n`);
      entry = { bytes, etag: `"${nodeCrypto().createHash('sha512').update(bytes).digest('hex').toUpperCase()}"` };
      cache.set(name, entry);
    }
    return entry;
  };

  return async (request, path, query) => {
    const clean = path.length > 1 ? path.replace(/\/+$/, '') : path;
    const health = healthOf(clean, query);
    if (health) return health;
    if (clean.startsWith('/openapi/')) return documents(request, clean);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      if (clean === '/version' || clean.startsWith('/api')) throw methodNotAllowed();
      return pathNotFound();
    }
    refresh();
    const accept = acceptOf(request);
    if (clean === '/api' || clean === '/apis') {
      const version = aggregationVersion(accept);
      if (version) return aggregatedAnswer(request, clean, version, cached, groups);
    }
    const body = documentAt(clean, core, groups);
    if (body === 'missing version') throw resourceNotFound();
    if (!body) return pathNotFound();
    const userAgent = String(request.headers['user-agent'] ?? '');
    const representation = negotiate({ accept, query, userAgent, custom: false, transformable: false });
    return renderJson(200, cached(clean, () => body).bytes, representation);
  };
}

function acceptOf(request: ApiRequest): string {
  const { accept } = request.headers;
  return typeof accept === 'string' ? accept : (accept?.join(',') ?? '');
}

function documentAt(
  path: string,
  core: Core,
  groups: readonly ServedGroup[],
): JsonObject | 'missing version' | undefined {
  if (path === '/version') return versionDocument;
  if (path === '/') return { paths: rootPaths(groups) };
  if (path === '/api') return coreVersions('127.0.0.1:443');
  if (path === '/apis') return groupList(groups);
  const [root, first, second] = path.slice(1).split('/');
  const name = root === 'api' ? '' : first!;
  const version = root === 'api' ? first : second;
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = groups.find((candidate) => candidate.name === name);
  if (!group) return undefined;
  if (version === undefined) return groupDocument(group);
  const found = group.versions.find((candidate) => candidate.version === version);
  return found ? resourceList(name, version, found.resources) : 'missing version';
}

function rootPaths(groups: readonly ServedGroup[]): string[] {
  const paths = [
    '/api',
    '/api/v1',
    '/apis',
    '/apis/',
    '/healthz',
    '/livez',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/',
    '/readyz',
    '/version',
  ];
  for (const { name, versions } of groups) {
    if (!name) continue;
    paths.push(`/apis/${name}`, ...versions.map(({ version }) => `/apis/${name}/${version}`));
  }
  return paths.toSorted();
}

/** The version of the aggregated format a client prefers over plain JSON. */
function aggregationVersion(accept: string): string | undefined {
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    if (type !== 'application' || subtype !== 'json') continue;
    if (parameters['as'] === undefined) return undefined;
    if (parameters['as'] !== 'APIGroupDiscoveryList' || parameters['g'] !== 'apidiscovery.k8s.io') continue;
    if (parameters['v'] === 'v2' || parameters['v'] === 'v2beta1') return parameters['v'];
  }
  return undefined;
}

function aggregatedAnswer(
  request: ApiRequest,
  path: string,
  version: string,
  cached: (name: string, make: () => JsonObject) => { bytes: Buffer; etag: string },
  groups: readonly ServedGroup[],
): ApiResponse {
  const { bytes, etag } = cached(`${path} ${version}`, () =>
    aggregated(groups, path === '/api', `apidiscovery.k8s.io/${version}`),
  );
  const headers = {
    'content-type': `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    'cache-control': 'public',
    etag,
    vary: 'Accept',
  };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: { ...headers }, body: Buffer.alloc(0) };
  return { status: 200, headers, body: bytes };
}

const healthChecks = ['ping', 'log', 'etcd'];

function healthOf(path: string, query: URLSearchParams): ApiResponse | undefined {
  const [, root, check, rest] = path.split('/');
  if (root !== 'healthz' && root !== 'livez' && root !== 'readyz') return undefined;
  const text = (body: string): ApiResponse => ({
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: Buffer.from(body),
  });
  if (check !== undefined) return rest === undefined && healthChecks.includes(check) ? text('ok') : pathNotFound();
  if (!query.has('verbose')) return text('ok');
  return text(`${healthChecks.map((name) => `[+]${name} ok\n`).join('')}${root} check passed\n`);
}
