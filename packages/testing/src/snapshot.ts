import type { Client, KubeObject } from '@slipway/kube';

/** What differs between two runs of the same story. */
const volatile = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'generation',
  'observedGeneration',
  'lastTransitionTime',
  'lastUpdateTime',
  'lastHeartbeatTime',
  'installStartedAt',
  'deletionTimestamp',
]);

export interface SnapshotOptions {
  /** Resources (`plural` or `plural.group`) to leave out. Events and Leases always are. */
  readonly without?: readonly string[];
}

/**
 * Everything on a cluster, without what differs from run to run: the state two stories are compared by. Keys are
 * `plural.group/namespace/name`.
 */
export async function snapshotCluster(client: Client, options: SnapshotOptions = {}): Promise<Record<string, unknown>> {
  const without = new Set([
    'events',
    'events.events.k8s.io',
    'leases.coordination.k8s.io',
    'endpoints',
    ...(options.without ?? []),
  ]);
  const snapshot: Record<string, unknown> = {};
  for (const resource of await client.discover({ fresh: true })) {
    const id = resource.group ? `${resource.plural}.${resource.group}` : resource.plural;
    if (!resource.preferred || !resource.verbs.includes('list') || without.has(id)) continue;
    const apiVersion = resource.group ? `${resource.group}/${resource.version}` : resource.version;
    for await (const object of client.list({ ...resource, apiVersion })) {
      snapshot[`${id}/${object.metadata.namespace ?? ''}/${object.metadata.name}`] = settledForm(object);
    }
  }
  return snapshot;
}

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function settledForm(object: KubeObject): unknown {
  const text = JSON.stringify(object, (key, value: unknown) => (volatile.has(key) ? undefined : value));
  return JSON.parse(text.replace(uid, '<uid>'));
}
