import type { Cluster as EmbeddedCluster, ClusterOptions } from '@slipway/apiserver';
import {
  createClient,
  CustomResourceDefinition,
  Namespace,
  type Client,
  type Clock,
  type DefinedKind,
  type KubeObject,
  type Transport,
} from '@slipway/kube';
import {
  startManager,
  memoryLogger,
  type Controller,
  type LogEntry,
  type Manager,
  type ManagerOptions,
} from '@slipway/runtime';

import { Attempt } from './attempt.ts';
import { furnished } from './furnished.ts';
import { establish, installKinds } from './install-kinds.ts';
import { machineTime } from './machine-time.ts';
import { OutsideWork } from './outside-work.ts';
import type { ProcessNodeOptions } from './reference-tool.ts';
import { VirtualClock } from './virtual-clock.ts';
import { wakeDefinitions } from './wake-definitions.ts';

export interface TestClusterOptions {
  /** Custom kinds to install before the test begins. */
  readonly kinds?: readonly DefinedKind[];
  /** Objects to create before the test begins, in this order. Definitions among them are applied and waited for. */
  readonly objects?: readonly KubeObject[];
  /** `core` (default): garbage collection, namespaces, service accounts; `workloads`: also Deployments and simulated pods; `none`. */
  readonly controllers?: 'none' | 'core' | 'workloads';
  /** A real cluster of the test's own, where others share one: for tests about kinds that must not be there yet. Default false. */
  readonly unshared?: boolean;
  /** Containers run as processes instead of being simulated. Reference cluster only, one of the test's own. */
  readonly processNode?: ProcessNodeOptions;
  /** `machine`: real time on the embedded cluster too, for what looks at the clock of the machine (TLS). Default `virtual`. */
  readonly time?: 'virtual' | 'machine';
  /** Controllers that read files or run processes: virtual time stands still while they do. Default false. */
  readonly outsideWork?: boolean;
  /** More options for the embedded server; ignored by the reference cluster. */
  readonly embedded?: Omit<ClusterOptions, 'clock' | 'controllers'>;
}

/** A cluster of a test's own: embedded on virtual time, or the real API server when `SLIPWAY_CLUSTER=reference`. */
export interface TestCluster extends AsyncDisposable {
  readonly type: 'embedded' | 'reference';
  readonly client: Client;
  /** The clock the cluster and its managers live on. */
  readonly clock: Clock;
  /** The embedded server, for faults and observers; absent on the reference cluster. */
  readonly embedded?: EmbeddedCluster;
  /** The machine as pods see it, with `processNode`. */
  readonly hostAddress?: string;
  /** The last lines of the containers and of the cluster's own processes, with `processNode`. */
  logs?(): Promise<string>;
  /**
   * The API server starts again, and has forgotten what it told before: watches from before answer 410. The real one dies for
   * it and all connections break; the embedded one only forgets.
   */
  restartApiServer(): Promise<void>;
  /** The way in for one user. Close it when done. */
  transport(): Transport;
  /** Runs controllers on the cluster. Their log lines are kept. */
  run(controllers: readonly Controller[], options?: Partial<ManagerOptions>): Promise<TestManager>;
  /**
   * Lets time pass until `check` gives something truthy, and returns it. Virtual time costs nothing; on the reference cluster
   * it is real, and at most `machinePatienceMs`. Fails with `what` and the last thing `check` threw.
   */
  eventually<T>(what: string, check: () => T | Promise<T>, options?: { withinMs?: number }): Promise<NonNullable<T>>;
  /** Lets `ms` pass. On the reference cluster only where nothing shorter will do. */
  advance(ms: number): Promise<void>;
  install(...kinds: readonly DefinedKind[]): Promise<void>;
}

export interface TestManager extends AsyncDisposable {
  readonly manager: Manager;
  readonly logs: readonly LogEntry[];
  stop(): Promise<void>;
}

/** Whether tests run against the real API server. */
export const onReference: boolean = process.env['SLIPWAY_CLUSTER'] === 'reference';

/** Starts a cluster for one test. */
export async function testCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  return onReference ? await referenceTestCluster(options) : await embeddedTestCluster(options);
}

async function embeddedTestCluster(options: TestClusterOptions): Promise<TestCluster> {
  if (options.processNode) throw new Error('processNode: containers run as processes on the reference cluster only');
  const { startCluster } = await import('@slipway/apiserver');
  if (options.time === 'machine') {
    const embedded = await startCluster({ ...options.embedded, controllers: options.controllers ?? 'core' });
    return await prepare(options, {
      type: 'embedded',
      embedded,
      ...machineTime,
      restartApiServer: async () => embedded.compact(),
      transport: () => embedded.transportFor({}),
      close: () => embedded.stop(),
    });
  }
  const outside = options.outsideWork ? new OutsideWork() : undefined;
  const clock = new VirtualClock(undefined, outside);
  const embedded = await startCluster({ ...options.embedded, clock, controllers: options.controllers ?? 'core' });
  return await prepare(options, {
    type: 'embedded',
    clock,
    embedded,
    ...(outside ? { outside } : {}),
    restartApiServer: async () => embedded.compact(),
    transport: () => outside?.leaving(embedded.transportFor({})) ?? embedded.transportFor({}),
    async eventually(what, check, { withinMs = 86_400_000 } = {}) {
      const attempt = new Attempt(what, check);
      try {
        await clock.runUntil(() => attempt.succeeds(), withinMs);
      } catch (error) {
        throw attempt.failure(error);
      }
      return attempt.result();
    },
    advance: (ms) => clock.advance(ms),
    close: () => embedded.stop(),
  });
}

async function referenceTestCluster(options: TestClusterOptions): Promise<TestCluster> {
  const { SharedReference } = await import('./shared-reference.ts');
  const controllers = options.controllers ?? 'core';
  const unshared = options.unshared || options.processNode !== undefined;
  const reference = unshared
    ? await SharedReference.start(controllers, options)
    : await SharedReference.get(controllers, options);
  if (!unshared) await reference.prepare(namespacesIn(options.objects));
  const transports: Transport[] = [];
  return await prepare(options, {
    type: 'reference',
    ...machineTime,
    ...(options.processNode ? { hostAddress: reference.hostAddress, logs: () => reference.logs() } : {}),
    restartApiServer: () => reference.restartApiServer(),
    transport() {
      const transport = reference.transport();
      transports.push(transport);
      return transport;
    },
    async close() {
      await Promise.all(transports.map((transport) => transport.close()));
      await (unshared ? reference.stop() : reference.clean());
    },
  });
}

function namespacesIn(objects: readonly KubeObject[] = []): ReadonlySet<string> {
  return new Set(objects.filter(isNamespace).map(({ metadata }) => metadata.name!));
}

/** Makes a namespace, or takes the one that is there, empty, from the test before. */
async function takeNamespace(
  cluster: TestCluster,
  namespace: KubeObject,
  { controllers }: TestClusterOptions,
): Promise<void> {
  await cluster.client.apply(namespace);
  if (controllers !== 'none') await furnished(cluster, namespace.metadata.name!);
}

function isNamespace({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === Namespace.apiVersion && kind === Namespace.kind;
}

type Basis = Pick<
  TestCluster,
  'type' | 'clock' | 'embedded' | 'hostAddress' | 'logs' | 'restartApiServer' | 'transport' | 'eventually' | 'advance'
> & {
  readonly outside?: OutsideWork;
  close(): Promise<void>;
};

async function prepare(options: TestClusterOptions, basis: Basis): Promise<TestCluster> {
  const client = createClient({ transport: basis.transport(), fieldManager: 'test', clock: basis.clock });
  const managers = new Set<TestManager>();
  const cluster: TestCluster = {
    type: basis.type,
    clock: basis.clock,
    ...(basis.embedded ? { embedded: basis.embedded } : {}),
    ...(basis.hostAddress ? { hostAddress: basis.hostAddress } : {}),
    ...(basis.logs ? { logs: () => basis.logs!() } : {}),
    async restartApiServer() {
      await basis.restartApiServer();
      if (basis.type === 'reference')
        await basis.eventually('definitions are woken', async () => (await wakeDefinitions(client), true));
    },
    transport: () => basis.transport(),
    eventually: (what, check, limits) => basis.eventually(what, check, limits),
    advance: (ms) => basis.advance(ms),
    client,
    async run(controllers, managerOptions = {}) {
      const entries: LogEntry[] = [];
      const manager = await startManager({
        cluster: { transport: basis.transport() },
        clock: basis.clock,
        log: memoryLogger(entries),
        gracefulStopMs: 5_000,
        ...managerOptions,
        controllers: basis.outside?.around(controllers) ?? controllers,
      });
      const running: TestManager = {
        manager,
        logs: entries,
        async stop() {
          managers.delete(running);
          await manager.stop();
        },
        [Symbol.asyncDispose]: () => running.stop(),
      };
      managers.add(running);
      return running;
    },
    install: (...kinds) => installKinds(cluster, kinds),
    async [Symbol.asyncDispose]() {
      await Promise.all([...managers].map((manager) => manager.stop()));
      await basis.close();
    },
  };
  try {
    await cluster.install(...(options.kinds ?? []));
    for (const object of options.objects ?? []) {
      if (object.kind === CustomResourceDefinition.kind) await establish(cluster, object);
      else if (basis.type === 'reference' && isNamespace(object)) await takeNamespace(cluster, object, options);
      else await client.create(object);
    }
  } catch (error) {
    await basis.close();
    throw error;
  }
  return cluster;
}
