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
  const found: { id: string; text: string }[] = [];
  for (const resource of await client.discover({ fresh: true })) {
    const id = resource.group ? `${resource.plural}.${resource.group}` : resource.plural;
    if (!resource.preferred || !resource.verbs.includes('list') || without.has(id)) continue;
    const apiVersion = resource.group ? `${resource.group}/${resource.version}` : resource.version;
    for await (const object of client.list({ ...resource, apiVersion })) {
      const { namespace = '', name = '' } = object.metadata;
      found.push({ id: `${id}/${namespace}/${name.replace(uid, '<uid>')}`, text: settledText(object) });
    }
  }
  // Names may differ in nothing but a uid; their content says which is which.
  const snapshot: Record<string, unknown> = {};
  for (const [id, same] of Map.groupBy(found, (item) => item.id)) {
    const texts = same.map((item) => item.text).sort();
    texts.forEach((text, index) => (snapshot[texts.length === 1 ? id : `${id}#${index + 1}`] = JSON.parse(text)));
  }
  return snapshot;
}

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** An object without what differs from run to run. */
export function settledText(object: KubeObject): string {
  const text = JSON.stringify(object, (key, value: unknown) => {
    if (volatile.has(key)) return undefined;
    return typeof value === 'string' && time.test(value) ? '<time>' : value;
  });
  return text.replace(uid, '<uid>');
}
