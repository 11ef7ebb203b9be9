import type { Connection } from '@slipway/kube';

/** The cluster we run in, or the one the kubeconfig names. */
export async function defaultConnection(): Promise<Connection> {
  throw new Error('startManager: say which cluster to work on with `cluster`');
}
