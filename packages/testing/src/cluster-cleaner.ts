import { setTimeout as wait } from 'node:timers/promises';
import { isNotFound, Namespace, systemClock, type Client, type Kind } from '@slipway/kube';

const patienceMs = 120_000;
/** So many connections, which stay open, list side by side. */
const listers = 6;

/** Takes off a real cluster what a test left there. */
export class ClusterCleaner {
  readonly #client: Client;
  readonly #kept: ReadonlySet<string>;

  /** One that keeps what is there now. */
  static async of(client: Client): Promise<ClusterCleaner> {
    const items = await itemsOf(client, await removableKinds(client));
    return new ClusterCleaner(client, new Set(items.map(({ id }) => id)));
  }

  private constructor(client: Client, kept: ReadonlySet<string>) {
    this.#client = client;
    this.#kept = kept;
  }

  /**
   * Takes off everything, whatever finalizers say; definitions stay, and so do the namespaces that are named, empty and as they were made: the controller
   * that removes one lets five seconds pass first.
   */
  async clean(namespaces: ReadonlySet<string> = new Set()): Promise<void> {
    const end = systemClock.now() + patienceMs;
    while (systemClock.now() < end) {
      let left = await this.#left(await removableKinds(this.#client), namespaces);
      if (left.length === 0) return await this.#emptyTraces(namespaces);
      // Of most kinds there is nothing: until all that was seen is gone, only its kinds are looked at.
      while (left.length > 0 && systemClock.now() < end) {
        await Promise.all(left.map((item) => remove(this.#client, item)));
        await wait(50);
        left = await this.#left(new Set(left.map(({ kind }) => kind)), namespaces);
      }
    }
    throw new Error('the reference cluster could not be cleaned for the next test');
  }

  async #left(kinds: Iterable<Kind>, namespaces: ReadonlySet<string>): Promise<Item[]> {
    const isLeft = (item: Item) =>
      !this.#kept.has(item.id) && !(namespaces.has(item.key.name) && isLivingNamespace(item));
    return (await itemsOf(this.#client, kinds)).filter(isLeft);
  }

  /** What controllers and others left in namespaces, and on them. */
  async #emptyTraces(namespaces: ReadonlySet<string>): Promise<void> {
    for (const name of namespaces) {
      const folders = traces.map((path) => `/${path.replace('NAME', name)}`);
      await Promise.all(folders.map((path) => this.#client.request({ method: 'DELETE', path })));
      const found = await this.#client.get(Namespace, { name });
      if (!found) continue;
      const body = { ...found, metadata: { name } };
      await this.#client.request({ method: 'PUT', path: `/api/v1/namespaces/${name}`, body });
    }
  }
}

/** Made by controllers in their own time, and not removed one by one. */
const traces = [
  'api/v1/namespaces/NAME/events',
  'api/v1/namespaces/NAME/endpoints',
  'apis/coordination.k8s.io/v1/namespaces/NAME/leases',
  'apis/discovery.k8s.io/v1/namespaces/NAME/endpointslices',
];

interface Item {
  readonly id: string;
  readonly kind: Kind;
  readonly key: { namespace?: string; name: string };
  readonly finalizers: readonly string[];
  /** It was deleted, and something keeps it. */
  readonly ending: boolean;
}

function isLivingNamespace({ kind, ending }: Item): boolean {
  return !ending && kind.group === Namespace.group && kind.kind === Namespace.kind;
}

/** Made by controllers in their own time; deleting them would only make them come back. */
const passing = new Set([
  'Event',
  'Lease',
  'CustomResourceDefinition',
  'APIService',
  'EndpointSlice',
  'Endpoints',
  'Node',
  'CSINode',
  'FlowSchema',
  'PriorityLevelConfiguration',
]);

async function removableKinds(client: Client): Promise<Kind[]> {
  const resources = await client.discover({ fresh: true });
  return resources
    .filter(({ preferred, kind }) => preferred && !passing.has(kind))
    .filter(({ verbs }) => verbs.includes('list') && verbs.includes('delete'))
    .map((resource) => ({
      ...resource,
      apiVersion: resource.group ? `${resource.group}/${resource.version}` : resource.version,
    }));
}

async function itemsOf(client: Client, kinds: Iterable<Kind>): Promise<Item[]> {
  const waiting = [...kinds];
  const items: Item[] = [];
  const lister = async (): Promise<void> => {
    for (let kind = waiting.pop(); kind; kind = waiting.pop()) items.push(...(await itemsOfKind(client, kind)));
  };
  await Promise.all(Array.from({ length: listers }, lister));
  return items;
}

async function itemsOfKind(client: Client, kind: Kind): Promise<Item[]> {
  const items: Item[] = [];
  try {
    for await (const { metadata } of client.list(kind)) {
      const { namespace, name = '', finalizers = [], deletionTimestamp } = metadata;
      // Furniture of every namespace, made again as soon as it is gone.
      if (name === 'kube-root-ca.crt' || (kind.kind === 'ServiceAccount' && name === 'default')) continue;
      const id = `${kind.plural}.${kind.group}/${namespace ?? ''}/${name}`;
      const key = namespace ? { namespace, name } : { name };
      items.push({ id, kind, key, finalizers, ending: deletionTimestamp !== undefined });
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return items;
}

async function remove(client: Client, { kind, key, finalizers }: Item): Promise<void> {
  try {
    if (finalizers.length > 0)
      await client.patch(kind, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await client.delete(kind, key, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
  } catch {
    // Gone meanwhile, or in somebody's way: the next round sees.
  }
}
