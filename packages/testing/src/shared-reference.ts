import { createClient, undiciTransport, type DefinedKind, type Transport } from '@slipway/kube';

import { ClusterCleaner } from './cluster-cleaner.ts';
import { furnished } from './furnished.ts';
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
  readonly #cleaner: ClusterCleaner;
  /** Of the test that runs, or of the last one, which are there and empty. */
  #namespaces: ReadonlySet<string> = new Set();

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
    if (controllers !== 'none') await furnished({ ...machineTime, client }, 'default');
    return new SharedReference(cluster, await ClusterCleaner.of(client));
  }

  constructor(cluster: ReferenceCluster, cleaner: ClusterCleaner) {
    this.#cluster = cluster;
    this.#cleaner = cleaner;
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

  /** Before a test that makes these namespaces: others that were kept for it in vain go. */
  async prepare(namespaces: ReadonlySet<string>): Promise<void> {
    const unwanted = this.#namespaces.difference(namespaces);
    this.#namespaces = namespaces;
    if (unwanted.size > 0) await this.#cleaner.clean(namespaces);
  }

  /** After a test: takes off everything that was not there at the start, but the namespaces of the test, which the next one likely makes again. */
  async clean(): Promise<void> {
    await this.#cleaner.clean(this.#namespaces);
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
