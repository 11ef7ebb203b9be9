import { setTimeout as wait } from 'node:timers/promises';
import { createClient, isNotFound, undiciTransport, type Client, type Kind, type Transport } from '@slipway/kube';

import { referenceTool, type ProcessNodeOptions, type ReferenceCluster } from './reference-tool.ts';

/** Which controllers a reference cluster runs. */
export type ControllerSet = 'none' | 'core' | 'workloads';

/**
 * A real cluster that the tests of one file use one after another. Starting one takes seconds, and its garbage collector
 * needs half a minute to notice new kinds; cleaning it takes neither. Kinds stay, objects go.
 */
export class SharedReference {
  static readonly #started = new Map<ControllerSet, Promise<SharedReference>>();
  readonly #cluster: ReferenceCluster;
  readonly #client: Client;
  readonly #baseline: ReadonlySet<string>;

  static async get(controllers: ControllerSet): Promise<SharedReference> {
    const started = SharedReference.#started.get(controllers) ?? SharedReference.start(controllers);
    SharedReference.#started.set(controllers, started);
    return await started;
  }

  /** One of its own, for a test that cannot share. */
  static async start(controllers: ControllerSet, processNode?: ProcessNodeOptions): Promise<SharedReference> {
    const { startReferenceCluster } = await referenceTool();
    // Stopped with the process: the cluster ends its processes when ours exits.
    const cluster = await startReferenceCluster({
      controllers: controllers !== 'none',
      ...(processNode ? { processNode } : controllers === 'workloads' ? { simulateNodes: 1 } : {}),
    });
    const client = createClient({ transport: connect(cluster), fieldManager: 'test' });
    if (controllers !== 'none') await furnished(client);
    return new SharedReference(cluster, client, new Set((await everything(client)).map((item) => item.id)));
  }

  constructor(cluster: ReferenceCluster, client: Client, baseline: ReadonlySet<string>) {
    this.#cluster = cluster;
    this.#client = client;
    this.#baseline = baseline;
  }

  transport(): Transport {
    return connect(this.#cluster);
  }

  /** The machine as pods see it, where containers run as processes. */
  get hostAddress(): string | undefined {
    return this.#cluster.hostAddress;
  }

  async logs(): Promise<string> {
    return await this.#cluster.logs();
  }

  async restartApiServer(): Promise<void> {
    await this.#cluster.restartApiServer();
  }

  async stop(): Promise<void> {
    await this.#cluster.stop();
  }

  /** Takes off everything that was not there at the start, whatever finalizers say; definitions stay. */
  async clean(): Promise<void> {
    for (let round = 0; round < 120; round += 1) {
      const left = (await everything(this.#client)).filter((item) => !this.#baseline.has(item.id));
      if (left.length === 0) return;
      await Promise.all(left.map((item) => remove(this.#client, item)));
      await wait(250);
    }
    throw new Error('the reference cluster could not be cleaned for the next test');
  }
}

interface Item {
  readonly id: string;
  readonly kind: Kind;
  readonly key: { namespace?: string; name: string };
  readonly finalizers: readonly string[];
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

async function everything(client: Client): Promise<Item[]> {
  const items: Item[] = [];
  for (const resource of await client.discover({ fresh: true })) {
    if (
      !resource.preferred ||
      passing.has(resource.kind) ||
      !resource.verbs.includes('list') ||
      !resource.verbs.includes('delete')
    )
      continue;
    const kind: Kind = {
      ...resource,
      apiVersion: resource.group ? `${resource.group}/${resource.version}` : resource.version,
    };
    try {
      for await (const { metadata } of client.list(kind)) {
        const { namespace, name = '', finalizers = [] } = metadata;
        // Furniture of every namespace, made again as soon as it is gone.
        if (name === 'kube-root-ca.crt' || (resource.kind === 'ServiceAccount' && name === 'default')) continue;
        items.push({
          id: `${resource.plural}.${resource.group}/${namespace ?? ''}/${name}`,
          kind,
          key: namespace ? { namespace, name } : { name },
          finalizers,
        });
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
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

/** The controllers have furnished the namespaces that are there from the start. */
async function furnished(client: Client): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    const accounts = (await client.request({ method: 'GET', path: '/api/v1/namespaces/default/serviceaccounts' })) as {
      items: unknown[];
    };
    if (accounts.items.length > 0) return;
    await wait(50);
  }
}

function connect(cluster: ReferenceCluster): Transport {
  return undiciTransport({
    server: cluster.url,
    tls: { ca: cluster.ca, clientCertificate: { cert: cluster.adminCert, key: cluster.adminKey } },
  });
}
