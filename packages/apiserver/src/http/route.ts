import { badRequest } from '../api-error.ts';

/** Where a URL points. */
export type Route =
  | {
      readonly to: 'resource';
      readonly group: string;
      readonly version: string;
      readonly plural: string;
      readonly namespace: string;
      readonly name: string;
      readonly subresource: string;
      /** Path segments after the subresource (`proxy/…`). */
      readonly rest: readonly string[];
      /** The deprecated `/watch/` prefix. */
      readonly watch: boolean;
    }
  | { readonly to: 'other'; readonly path: string };

const namespaceSubresources = new Set(['status', 'finalize']);

export function routeOf(path: string): Route {
  const segments = path.split('/').filter(Boolean);
  const core = segments[0] === 'api';
  if (!core && segments[0] !== 'apis') return { to: 'other', path };
  const start = core ? 2 : 3;
  if (segments.length <= start) return { to: 'other', path };
  const [group, version] = core ? ['', segments[1]!] : [segments[1]!, segments[2]!];
  let parts: string[];
  try {
    parts = segments.slice(start).map(decodeURIComponent);
  } catch {
    throw badRequest(`invalid URL escape in "${path}"`);
  }
  const watch = parts[0] === 'watch' && parts.length > 1;
  if (watch) parts.shift();
  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 2 && !namespaceSubresources.has(parts[2]!)) {
    namespace = parts[1]!;
    parts.splice(0, 2);
  }
  const [plural = '', name = '', subresource = '', ...rest] = parts;
  return { to: 'resource', group, version, plural, namespace, name, subresource, rest, watch };
}
