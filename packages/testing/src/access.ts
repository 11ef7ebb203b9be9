import type { TransportRequest } from '@slipway/kube';

/** What a request asks permission for, in the words of RBAC. */
export interface Access {
  readonly verb: string;
  readonly group: string;
  /** With its subresource, such as `pods/log`. */
  readonly resource: string;
  /** Absent where the request is about a collection. */
  readonly name?: string;
}

const verbs = { POST: 'create', PUT: 'update', PATCH: 'patch' } as const;

/** Parts of a namespace itself; whatever else stands behind its name is in it. */
const ofNamespace: ReadonlySet<string> = new Set(['status', 'finalize']);

/** What a request asks permission for. Discovery and other requests that are about no resource ask for none of an operator's. */
export function accessOf({ method, path }: TransportRequest): Access | undefined {
  const url = new URL(path, 'https://cluster');
  const [root, ...parts] = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'api' ? '' : (parts.shift() ?? '');
  parts.shift(); // the version
  const inNamespace = parts[0] === 'namespaces' && parts.length > 2 && !ofNamespace.has(parts[2]!);
  const [resource, name, subresource] = inNamespace ? parts.slice(2) : parts;
  if (resource === undefined) return undefined;
  return {
    verb: verbOf(method, name !== undefined, url.searchParams),
    group,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    ...(name === undefined ? {} : { name }),
  };
}

function verbOf(method: TransportRequest['method'], named: boolean, query: URLSearchParams): string {
  if (method === 'DELETE') return named ? 'delete' : 'deletecollection';
  if (method !== 'GET') return verbs[method];
  if (['1', 'true'].includes(query.get('watch') ?? '')) return 'watch';
  return named ? 'get' : 'list';
}
