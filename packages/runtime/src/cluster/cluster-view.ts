import type { Cache, Client } from '@slipway/kube';

import type { Reachability } from './reachability.ts';

/** One cluster as controllers see it. */
export interface ClusterView {
  /** `main` for the one given as `cluster`; else its name in `clusters`. */
  readonly name: string;
  /** Its writes are known to `cache`. */
  readonly client: Client;
  readonly cache: Cache;
  /** Absent where client and cache were made by somebody else. */
  readonly reachability?: Reachability;
}

export const mainCluster = 'main';

/** Looks a cluster up by name; an unknown name is an error that lists the known ones. */
export function clusterNamed(clusters: ReadonlyMap<string, ClusterView>, name: string, wantedBy: string): ClusterView {
  const cluster = clusters.get(name);
  if (cluster) return cluster;
  const known = [...clusters.keys()].join(', ');
  throw new Error(`${wantedBy}: no cluster is called '${name}'; the manager knows ${known}`);
}
