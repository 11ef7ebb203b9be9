import { servedGroups } from '../discovery/discovery.ts';
import { ApiError } from '../api-error.ts';
import { methodNotAllowed } from '../http/misses.ts';
import { versionDocument } from '../http/version.ts';
import { parseAccept } from '../http/negotiate.ts';
import type { JsonObject } from '../object.ts';
import type { Registry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import { builtinComponents, definitionsWithReferences } from '../schema/openapi-definitions.ts';
import type { ApiRequest, ApiResponse } from '../server.ts';
import { pathsOf } from './paths.ts';
import { swaggerProtobuf } from './swagger-protobuf.ts';
import { swaggerOf } from './swagger.ts';
import { nodeCrypto } from '../node-crypto.ts';

interface Served {
  readonly bytes: Buffer;
  readonly hash: string;
}

const securitySchemes = {
  BearerToken: { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' },
};

/** Definitions every document needs besides its kinds. */
const commonDefinitions = [
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList',
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Patch',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Status',
  'io.k8s.api.autoscaling.v1.Scale',
];

/** Answers `/openapi/v3…` and `/openapi/v2`. Documents are made on first use and kept until the kinds in them change. */
export function openApi(registry: Registry): (request: ApiRequest, path: string) => Promise<ApiResponse> {
  const documents = new Map<string, { resources: readonly Resource[]; served: Promise<Served> }>();
  let swagger: { generation: number; served: Promise<Served>; protobuf?: Promise<Served> } | undefined;

  const document = (path: string, group: string, version: string, resources: readonly Resource[]) => {
    const known = documents.get(path);
    if (known && sameMembers(known.resources, resources)) return known.served;
    const served = makeDocument(path, group, version, resources);
    documents.set(path, { resources, served });
    return served;
  };

  const all = () =>
    servedGroups(registry).flatMap(({ name, versions }) =>
      versions.map(({ version, resources }) => ({
        path: name ? `apis/${name}/${version}` : `api/${version}`,
        group: name,
        version,
        resources,
      })),
    );

  return async (request, path): Promise<ApiResponse> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
    if (path === '/openapi/v3') {
      const paths: JsonObject = {};
      for (const each of all().toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
        const hash = fingerprint(each.resources);
        paths[each.path] = { serverRelativeURL: `/openapi/v3/${each.path}?hash=${hash}` };
      }
      paths['version'] = { serverRelativeURL: `/openapi/v3/version?hash=${fingerprint([])}` };
      const bytes = Buffer.from(JSON.stringify({ paths }));
      return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: bytes };
    }
    if (path === '/openapi/v2') {
      const protobuf = prefersProtobuf(request);
      if (!protobuf) refuseProtobuf(request);
      if (swagger?.generation !== registry.generation) {
        swagger = { generation: registry.generation, served: makeSwagger(all().map((each) => ({ ...each }))) };
      }
      if (!protobuf) return withEtag(request, await swagger.served, 'application/json');
      swagger.protobuf ??= swagger.served.then(({ bytes, hash }) => ({
        bytes: swaggerProtobuf(JSON.parse(bytes.toString()) as JsonObject),
        hash,
      }));
      return withEtag(request, await swagger.protobuf, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    }
    const wanted = path.replace(/^\/openapi\/v3\//, '');
    if (wanted === 'version') return withEtag(request, versionServed(), 'application/json');
    const found = all().find((each) => each.path === wanted);
    if (!found) return { status: 404, headers: {}, body: Buffer.alloc(0) };
    refuseProtobuf(request);
    const served = await document(found.path, found.group, found.version, found.resources);
    // Only an address that names the content may be kept for good.
    const named = request.path.includes('hash=');
    return withEtag(request, served, 'application/json', named ? { 'cache-control': 'public, immutable' } : {});
  };
}

async function makeDocument(
  path: string,
  group: string,
  version: string,
  resources: readonly Resource[],
): Promise<Served> {
  const custom = resources.some((resource) => resource.custom);
  const schemas = await schemasOf(path, resources);
  const [, minor = ''] = /^v(\d+\.\d+)/.exec(String(versionDocument['gitVersion'])) ?? [];
  const body = {
    openapi: '3.0.0',
    info: custom ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } : { title: 'Kubernetes', version: minor },
    paths: pathsOf(group, version, resources),
    components: { schemas, securitySchemes },
  };
  const bytes = Buffer.from(JSON.stringify(body));
  return { bytes, hash: hashOf(bytes) };
}

async function schemasOf(path: string, resources: readonly Resource[]): Promise<JsonObject> {
  const builtin = (await builtinComponents(path)) ?? {};
  const custom = resources.flatMap((resource) => (resource.openApiDefinitions ? [resource.openApiDefinitions()] : []));
  const common = await definitionsWithReferences(commonDefinitions);
  const merged = Object.assign({}, common, builtin, ...custom) as JsonObject;
  return Object.fromEntries(Object.entries(merged).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function makeSwagger(
  documents: readonly { path: string; group: string; version: string; resources: readonly Resource[] }[],
): Promise<Served> {
  const paths: JsonObject = {};
  const definitions: JsonObject = {};
  for (const { path, group, version, resources } of documents) {
    Object.assign(paths, pathsOf(group, version, resources));
    Object.assign(definitions, await schemasOf(path, resources));
  }
  const bytes = Buffer.from(JSON.stringify(swaggerOf(paths, definitions, String(versionDocument['gitVersion']))));
  return { bytes, hash: hashOf(bytes) };
}

function versionServed(): Served {
  const body = { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'unversioned' }, paths: {} };
  const bytes = Buffer.from(JSON.stringify(body));
  return { bytes, hash: hashOf(bytes) };
}

const fingerprints = new WeakMap<Resource, string>();
let lastFingerprint = 0;

/** The index must name a hash of each document without making all of them; what a document is made of identifies it as well. */
function fingerprint(resources: readonly Resource[]): string {
  const parts = resources.map((resource) => {
    let text = fingerprints.get(resource);
    if (!text) {
      lastFingerprint += 1;
      text = resource.custom
        ? JSON.stringify(resource.openApiDefinitions?.() ?? lastFingerprint)
        : `${resource.group}/${resource.version}/${resource.plural}`;
      fingerprints.set(resource, text);
    }
    return text;
  });
  return hashOf(Buffer.from(`${String(versionDocument['gitVersion'])} ${parts.join(' ')}`));
}

function sameMembers(a: readonly Resource[], b: readonly Resource[]): boolean {
  return a.length === b.length && a.every((resource, index) => resource === b[index]);
}

function hashOf(bytes: Buffer): string {
  return nodeCrypto().createHash('sha512').update(bytes).digest('hex').toUpperCase();
}

function withEtag(
  request: ApiRequest,
  served: Served,
  contentType: string,
  more: Readonly<Record<string, string>> = {},
): ApiResponse {
  const etag = `"${served.hash}"`;
  const headers = { 'content-type': contentType, etag, vary: 'Accept', ...more };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: Buffer.alloc(0) };
  return { status: 200, headers, body: served.bytes };
}

/** The name has a dot or, in older clients, an @ before the version. */
const swaggerProtobufType = /^com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf$/;

function prefersProtobuf({ headers: { accept } }: ApiRequest): boolean {
  const [first] = parseAccept(typeof accept === 'string' ? accept : (accept?.join(',') ?? ''));
  return first?.type === 'application' && swaggerProtobufType.test(first.subtype);
}

/** The protobuf forms of v3 are not made here; a client that takes nothing else must hear that instead of getting JSON. */
function refuseProtobuf(request: ApiRequest): void {
  const { accept } = request.headers;
  const text = typeof accept === 'string' ? accept : (accept?.join(',') ?? '');
  if (!text) return;
  const readable = parseAccept(text).some(
    ({ type, subtype }) => type === '*' || (type === 'application' && (subtype === 'json' || subtype === '*')),
  );
  if (readable) return;
  throw new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message: 'only the following media types are accepted: application/json',
  });
}
