import type { Impersonation } from '../connection.ts';
import { InputError } from '../input-error.ts';
import type { Transport, TransportRequest } from '../transport.ts';

/** The request headers that ask the server to act as somebody else. */
export function impersonationHeaders(impersonate: Impersonation | undefined): Record<string, string | string[]> {
  if (!impersonate) return {};
  if (!impersonate.user) throw new InputError('Object', 'impersonation names groups or extras but no user');
  const headers: Record<string, string | string[]> = { 'impersonate-user': impersonate.user };
  if (impersonate.uid) headers['impersonate-uid'] = impersonate.uid;
  if (impersonate.groups?.length) headers['impersonate-group'] = [...impersonate.groups];
  for (const [key, values] of Object.entries(impersonate.extra ?? {}))
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = [...values];
  return headers;
}

/** A transport whose requests ask the server to act as `user`. */
export function actingTransport(inner: Transport, user: string): Transport {
  const acting = (request: TransportRequest): TransportRequest => ({
    ...request,
    headers: { ...request.headers, 'impersonate-user': user },
  });
  return {
    send: (request, signal) => inner.send(acting(request), signal),
    open: (request, handler) => inner.open(acting(request), handler),
    close: () => inner.close(),
  };
}
