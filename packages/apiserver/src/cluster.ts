import { clusterAdmission } from './admission/cluster-admission.ts';
import { WebhookClient, type ServiceResolver } from './admission/webhook-client.ts';
import type { UserInfo } from './auth/auth.ts';
import type { StaticToken } from './auth/authenticator.ts';
import { bootstrapPolicy } from './auth/bootstrap-policy.ts';
import { keptAdminToken, tokenOfAdmin } from './auth/admin-token.ts';
import { readAuthenticationConfiguration } from './auth/authentication-configuration.ts';
import { clusterAuth } from './auth/cluster-auth.ts';
import { builtinRegistry } from './builtin-registry.ts';
import { loadCel } from './cel/late-cel.ts';
import { Cleanup } from './cleanup.ts';
import { guardedClock, systemClock, type Clock } from './clock.ts';
import { createPki } from './cluster-pki.ts';
import {
  startControllers,
  type ControllerMode,
  type ControllersOptions,
  type RunningControllers,
} from './controllers/start-controllers.ts';
import { followCrds } from './crd-follower.ts';
import { expireEvents } from './event-expiry.ts';
import { Faults, type FaultRule, type Interceptor } from './faults.ts';
import { storeFirstObjects } from './first-objects.ts';
import { listen, type Listener } from './http/http-server.ts';
import { inProcessTransport, type InProcessOptions, type InProcessTransport } from './in-process.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { localClient } from './local-client.ts';
import { applyManifests, readManifests, type Manifest } from './manifests.ts';
import type { ApiObject } from './object.ts';
import { systemRandom, type Random } from './random.ts';
import { ApiServer } from './server.ts';
import { createMissing, createStartUpObjects } from './start-up-objects.ts';
import { keyOf } from './store/entry.ts';
import type { ChangeType } from './store/storage.ts';
import { Store, type HistoryOptions } from './store/store.ts';

export interface ClusterOptions {
  /** Listen on this port; 0 takes any free one. Default: no socket at all. */
  readonly port?: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Names clients may call the server by, besides `host`, `localhost` and the other names of this machine. */
  readonly allowedHosts?: readonly string[];
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Default: the randomness of the machine. */
  readonly random?: Random;
  /** Keep everything in a SQLite file in this directory, and the keys beside it. Default: in memory only. */
  readonly dataDir?: string;
  /** `process` (default): acknowledged writes survive the death of the process. `power`: of the machine too, at the price of a disk flush per write. */
  readonly durability?: 'process' | 'power';
  /** Applied before anything else. */
  readonly crds?: readonly Manifest[];
  /** Applied after the CRDs; a second start with the same ones changes nothing. */
  readonly manifests?: readonly Manifest[];
  /** HTTPS with a certificate authority of its own; the kubeconfig holds the administrator's client certificate. Default false. */
  readonly tls?: boolean;
  /** `RBAC`: roles decide, and who sends no credentials over a socket is anonymous. Default `AlwaysAllow`. */
  readonly authorization?: 'AlwaysAllow' | 'RBAC';
  /** What a request over a socket without credentials is. Default `admin` with `AlwaysAllow`, `anonymous` with `RBAC`. */
  readonly withoutCredentials?: 'admin' | 'anonymous' | 'refuse';
  /**
   * `token`: who sends no credentials over a socket is refused, and the kubeconfig holds a bearer token of the administrator, which is
   * kept beside the data. Go's clients send tokens over HTTPS only, so it goes with `tls`. Default `open`.
   */
  readonly access?: 'open' | 'token';
  /** Bearer tokens and who sends them. */
  readonly tokens?: readonly StaticToken[];
  /**
   * A file with an AuthenticationConfiguration, as kube-apiserver takes it: people with tokens of the issuers in its `jwt` are known by the claims it names.
   * It is read again when it changes; a wrong one keeps the cluster from starting. Default: nobody's tokens are accepted.
   */
  readonly authenticationConfig?: string;
  /** Where webhooks given as Services listen. Default: such webhooks cannot be reached. */
  readonly resolveService?: ServiceResolver;
  /** Which controllers run. Default `core`. */
  readonly controllers?: ControllerMode;
  /** Simulated nodes with `workloads`. Default 1. */
  readonly nodes?: number;
  /** How simulated pods behave unless told otherwise. Default: ready at once. */
  readonly podStage?: ControllersOptions['podStage'];
  /** How long a namespace stays before its content is deleted. Default 0. */
  readonly namespaceDeletionDelayMs?: number;
  /** Hears what controllers could not do, and what failed outside of any request. Default: nobody. */
  readonly log?: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly faults?: readonly FaultRule[];
  readonly history?: HistoryOptions;
  /** How long an Event stays after it was last written. Default 3,600,000 (1 hour); `Infinity` keeps them. */
  readonly eventTtlMs?: number;
}

/** A stored write, as observers see it. */
export interface ObservedChange {
  readonly revision: number;
  readonly type: ChangeType;
  /** Such as `deployments.apps`. */
  readonly storageId: string;
  /** What was stored; for DELETED what was removed. Never change it. */
  readonly object: ApiObject;
  /** What was stored before. */
  readonly previous: ApiObject | undefined;
}

/** A running cluster. */
export interface Cluster {
  /** Where it listens; without a port an address nobody answers at. */
  readonly url: string;
  /** A transport without sockets, as the administrator. */
  readonly transport: InProcessTransport;
  /** The same for somebody else. */
  transportFor(options: InProcessOptions): InProcessTransport;
  readonly kubeconfig: string;
  writeKubeconfig(path: string): Promise<void>;
  readonly server: ApiServer;
  /** The revision of the last write. */
  readonly revision: number;
  /** Forgets history, so that watches and lists from before answer 410. */
  compact(revision?: number): void;
  /** Makes simulated pods fail, hang, crash or dawdle (with `workloads`). */
  readonly simulation: RunningControllers['simulation'];
  /** Resolves when the controllers have seen what was there when the cluster started. */
  synced(): Promise<void>;
  readonly faults: Faults;
  /** Called before and after the effect of every request; `'drop'` or throwing breaks the connection there. */
  intercept(interceptor: Interceptor): () => void;
  /** Called inside every stored write, with the stored object. */
  observe(observer: (change: ObservedChange) => void): () => void;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const apiserverUser: UserInfo = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };
const controllerUser: UserInfo = {
  name: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
};

/** Starts a cluster in this process. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const log = quietly(options.log);
  const clock = guardedClock(options.clock ?? systemClock, (error) => log(`a timer failed: ${textOf(error)}`));
  const random = options.random ?? systemRandom;
  const manifests = await readManifests([...(options.crds ?? []), ...(options.manifests ?? [])]);
  if (options.authenticationConfig !== undefined) await readAuthenticationConfiguration(options.authenticationConfig);
  // Whatever fails from here on, a data directory is free again and no controller goes on.
  await using starting = new Cleanup();
  const registry = builtinRegistry();
  const kept = options.dataDir ? await openDataDir(options.dataDir, options.durability ?? 'process') : undefined;
  const store = new Store({
    clock,
    log,
    ...(options.history ? { history: options.history } : {}),
    ...(kept ? { storage: kept.storage } : {}),
  });
  starting.defer(() => store.close());
  const keyFiles = kept ? { keyFiles: kept.keyFiles } : {};
  // Kinds, policies and webhooks of an earlier start may hold expressions.
  if (kept && store.revision > 0) await loadCel();
  const faults = new Faults(clock);
  const objects = {
    lookup: (storageId: string, namespace: string | undefined, name: string) =>
      store.get(storageId, keyOf(namespace, name))?.object,
    *scan(storageId: string) {
      for (const { object } of store.list(storageId)) yield object;
    },
  };
  const adminToken = options.access === 'token' ? keptAdminToken(kept?.keyFiles) : undefined;
  const withoutCredentials = options.withoutCredentials ?? (adminToken === undefined ? undefined : 'refuse');
  const auth = clusterAuth({
    objects,
    clock,
    random,
    authorization: options.authorization ?? 'AlwaysAllow',
    ...keyFiles,
    ...(options.authenticationConfig === undefined ? {} : { authenticationConfig: options.authenticationConfig }),
    staticTokens: [...(options.tokens ?? []), ...(adminToken === undefined ? [] : [tokenOfAdmin(adminToken)])],
    ...(withoutCredentials ? { withoutCredentials } : {}),
  });
  const resolveService = options.resolveService;
  const reach = { clock, ...(resolveService ? { resolveService } : {}) };
  const { authorizer, escalationCheck } = auth;
  const admission = clusterAdmission({ objects, registry, random, authorizer, ...reach, plugins: [escalationCheck] });
  const server = new ApiServer({ registry, store, clock, random, faults, auth, admission });
  starting.defer(() => server.close());
  const host = options.host ?? '127.0.0.1';
  const pki = options.tls ? await createPki({ clock, host, ...keyFiles }) : undefined;
  const own = localClient(server, { user: apiserverUser, userAgent: 'kube-apiserver' });
  followCrds({ store, registry, client: own, clock, random, webhooks: new WebhookClient(reach) });
  const mode = options.controllers ?? 'core';
  if (store.revision > 0) await createStartUpObjects(own, pki?.ca);
  else storeFirstObjects({ store, clock, random, ca: pki?.ca, furnished: mode !== 'none' });
  if (options.authorization === 'RBAC') await createMissing(own, registry, bootstrapPolicy());
  await applyManifests(server, manifests);
  let listener: Listener | undefined;
  if (options.port !== undefined) {
    const material = pki && { cert: pki.server.certificate, key: pki.server.key, clientCa: pki.ca };
    listener = await listen(server, {
      port: options.port,
      host,
      log,
      ...(material ? { tls: material } : {}),
      ...(options.allowedHosts ? { allowedHosts: options.allowedHosts } : {}),
    });
    starting.defer(() => listener?.close());
  }
  const transport = inProcessTransport(server);
  starting.defer(() => transport.close());
  const eventTtlMs = options.eventTtlMs ?? 3_600_000;
  if (Number.isFinite(eventTtlMs)) {
    const expiry = expireEvents({ store, clock, ttlMs: eventTtlMs });
    starting.defer(() => expiry.stop());
  }
  const controllers = startControllers({
    client: localClient(server, { user: controllerUser }),
    clock,
    random,
    mode,
    rootCa: pki?.ca ?? '',
    serviceAccountTokens: auth.serviceAccountTokens,
    log,
    ...(options.nodes === undefined ? {} : { nodes: options.nodes }),
    ...(options.podStage ? { podStage: options.podStage } : {}),
    ...(options.namespaceDeletionDelayMs === undefined
      ? {}
      : { namespaceDeletionDelayMs: options.namespaceDeletionDelayMs }),
  });
  starting.defer(() => controllers.stop());
  // Faults begin when the cluster is up: a rule must not hit the start itself.
  for (const rule of options.faults ?? []) faults.add(rule);
  const url = listener?.url ?? 'http://cluster.invalid';
  const kubeconfig = kubeconfigText({
    server: url,
    ...(pki ? { certificateAuthority: pki.ca } : {}),
    ...(adminToken === undefined
      ? pki && { clientCertificate: pki.admin.certificate, clientKey: pki.admin.key }
      : { token: adminToken }),
  });
  const started = starting.move();
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= started[Symbol.asyncDispose]());
  return {
    url,
    transport,
    transportFor: (forWhom) => inProcessTransport(server, forWhom),
    kubeconfig,
    async writeKubeconfig(path) {
      const { chmod, writeFile } = await import('node:fs/promises');
      // The mode counts only for new files, and the secret must not lie open even for a moment.
      await writeFile(path, '', { mode: 0o600, flag: 'a' });
      await chmod(path, 0o600);
      await writeFile(path, kubeconfig);
    },
    server,
    get revision() {
      return store.revision;
    },
    compact: (revision) => store.compact(revision),
    simulation: controllers.simulation,
    synced: () => controllers.synced(),
    faults,
    intercept: (interceptor) => faults.intercept(interceptor),
    observe: (observer) =>
      store.observe(({ revision, type, storageId, entry, previous }) =>
        observer({ revision, type, storageId, object: entry.object, previous: previous?.object }),
      ),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** A log that fails must not take the cluster with it. */
function quietly(log: ClusterOptions['log']): NonNullable<ClusterOptions['log']> {
  return (message, fields) => {
    try {
      log?.(message, fields);
    } catch {
      // There is nobody left to tell.
    }
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Loaded only when asked for: most clusters live in memory. */
async function openDataDir(directory: string, survive: 'process' | 'power') {
  const [{ sqliteStorage }, { keyFilesIn }] = await Promise.all([
    import('./store/sqlite-storage.ts'),
    import('./key-files.ts'),
  ]);
  return { storage: sqliteStorage({ directory, survive }), keyFiles: keyFilesIn(directory) };
}
