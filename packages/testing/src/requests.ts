import type { TransportRequest } from '@slipway/kube';

/** Whether a request changes something anybody depends on. */
export function isWrite(request: TransportRequest): boolean {
  // Events tell people what happened; nothing depends on them.
  return request.method !== 'GET' && !request.path.includes('/events') && !request.path.includes('dryRun=All');
}

/** Whether a request is about who leads. */
export function isLease({ path }: TransportRequest): boolean {
  return path.startsWith('/apis/coordination.k8s.io/');
}
