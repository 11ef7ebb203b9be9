import { setTimeout as wait } from 'node:timers/promises';
import {
  createClient,
  isNotFound,
  systemClock,
  undiciTransport,
  type Client,
  type DefinedKind,
  type Kind,
  type Transport,
} from '@slipway/kube';

import { installKinds } from './install-kinds.ts';
import { machineTime } from './machine-time.ts';
import {
  referenceTool,
  type ReferenceAccess,
  type ProcessNodeOptions,
  type ReferenceCluster,
} from './reference-tool.ts';

/** Which controllers a reference cluster runs. */
export type ControllerSet = 'none' | 'core' | 'workloads';

interface StartOptions {
  /** What the first test needs; later ones install what theirs do not share. */
  readonly kinds?: readonly DefinedKind[];
  readonly processNode?: ProcessNodeOptions;
}

/**
 * A real cluster that the tests of one file use one after another. Starting one takes seconds, and its garbage collector
 * needs half a minute to notice kinds that come after it; cleaning it takes neither. Kinds stay, objects go.
 */
export class SharedReference {
  static readonly #started = new Map<ControllerSet, Promise<SharedReference>>();
  readonly #cluster: ReferenceCluster;
  readonly #client: Client;
  readonly #baseline: ReadonlySet<string>;

  static async get(controllers: ControllerSet, first: StartOptions = {}): Promise<SharedReference> {
    const started = SharedReference.#started.get(controllers) ?? SharedReference.start(controllers, first);
    SharedReference.#started.set(controllers, started);
    return await started;
  }

  /** One of its own, for a test that cannot share. */
  static async start(
    controllers: ControllerSet,
    { processNode, kinds = [] }: StartOptions = {},
  ): Promise<SharedReference> {
    const { startReferenceCluster } = await referenceTool();
    // Stopped with the process: the cluster ends its processes when ours exits.
    const cluster = await startReferenceCluster({
      controllers: controllers !== 'none',
      beforeControllers: (access) => serve(kinds, access),
      ...(processNode ? { processNode } : controllers === 'workloads' ? { simulateNodes: 1 } : {}),
    });
    const client = createClient({ transport: connect(cluster), fieldManager: 'test' });
    if (controllers !== 'none') await furnished(client);
    const baseline = await itemsOf(client, await removableKinds(client));
    return new SharedReference(cluster, client, new Set(baseline.map((item) => item.id)));
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
    const end = systemClock.now() + cleaningPatienceMs;
    while (systemClock.now() < end) {
      let left = await this.#left(await removableKinds(this.#client));
      if (left.length === 0) return;
      // Of most kinds there is nothing: until all that was seen is gone, only its kinds are looked at.
      while (left.length > 0 && systemClock.now() < end) {
        await Promise.all(left.map((item) => remove(this.#client, item)));
        await wait(50);
        left = await this.#left(new Set(left.map(({ kind }) => kind)));
      }
    }
    throw new Error('the reference cluster could not be cleaned for the next test');
  }

  async #left(kinds: Iterable<Kind>): Promise<Item[]> {
    return (await itemsOf(this.#client, kinds)).filter((item) => !this.#baseline.has(item.id));
  }
}

/** A namespace is emptied by a controller in its own time. */
const cleaningPatienceMs = 120_000;
/** So many connections, which stay open, list side by side. */
const listers = 6;

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
      const { namespace, name = '', finalizers = [] } = metadata;
      // Furniture of every namespace, made again as soon as it is gone.
      if (name === 'kube-root-ca.crt' || (kind.kind === 'ServiceAccount' && name === 'default')) continue;
      const id = `${kind.plural}.${kind.group}/${namespace ?? ''}/${name}`;
      items.push({ id, kind, key: namespace ? { namespace, name } : { name }, finalizers });
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

/** Installs kinds and waits until discovery tells of them. */
async function serve(kinds: readonly DefinedKind[], access: ReferenceAccess): Promise<void> {
  const transport = connect(access);
  try {
    const client = createClient({ transport, fieldManager: 'test' });
    await installKinds({ ...machineTime, client }, kinds);
    await machineTime.eventually('discovery tells of the kinds', async () => {
      const served = new Set((await client.discover({ fresh: true })).map(({ group, kind }) => `${group}/${kind}`));
      return kinds.every(({ group, kind }) => served.has(`${group}/${kind}`));
    });
  } finally {
    await transport.close();
  }
}

function connect(cluster: ReferenceAccess): Transport {
  return undiciTransport({
    server: cluster.url,
    tls: { ca: cluster.ca, clientCertificate: { cert: cluster.adminCert, key: cluster.adminKey } },
  });
}
