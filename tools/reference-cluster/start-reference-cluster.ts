import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from './free-ports.ts';
import { AdminClient, type AdminCredentials } from './admin-client.ts';
import { ensureReferenceBinaries, type NoReferenceBinaries, type ReferenceBinaries } from './build.ts';
import { createCertificateAuthority, createServiceAccountKeys } from './certificates.ts';
import { type Child, startChild, tailOfLog } from './child.ts';
import { renderKubeconfig } from './kubeconfig.ts';
import { startOrphanGuard } from './orphan-guard.ts';
import type { BackOffLimits } from './process-node/back-off.ts';
import type { ImageTable } from './process-node/images.ts';
import { claimPodNetwork, networkRemoval, processNodeProblem } from './process-node/pod-network.ts';
import type { ProcessNodeSettings } from './process-node/process-node.ts';
import {
  apiServerArguments,
  controllerManagerArguments,
  etcdArguments,
  kubernetesServiceAddress,
} from './process-arguments.ts';

export interface ReferenceClusterOptions {
  /** Run kube-controller-manager: garbage collection, namespaces, ServiceAccounts, workloads. Default false. */
  controllers?: boolean;
  /**
   * Called when the API server is ready, before controllers start. The garbage collector looks for kinds when it starts, and again every 30 s: those that
   * are made here it knows from their first object on.
   */
  beforeControllers?: (access: AdminCredentials) => Promise<void>;
  /** How many made-up nodes run pods. More than 0 needs `controllers` to be of use for Deployments. Default 0. */
  simulateNodes?: number;
  /** A node that runs containers as processes of this machine, instead of made-up ones; needs `controllers` and root. */
  processNode?: ProcessNodeOptions;
  /** Admission plugin that gives pods their ServiceAccount; needs `controllers`. Default false, as in envtest; true with `processNode`. */
  serviceAccountAdmission?: boolean;
  /** More flags for kube-apiserver; they win over the usual ones. */
  apiServerArgs?: readonly string[];
  /** More flags for kube-controller-manager; they win over the usual ones. */
  controllerManagerArgs?: readonly string[];
  /** How long start may take, in milliseconds. Default 90 000. */
  startTimeoutMs?: number;
  /** Receives one line of progress at a time. Default: nowhere. */
  log?: (line: string) => void;
  /** Binaries found before. Default: `ensureReferenceBinaries()`, which builds what is missing. */
  binaries?: ReferenceBinaries;
}

export interface ProcessNodeOptions {
  /** What the node knows to run. A pod with another image waits with ErrImagePull. */
  images: ImageTable;
  /** Waits before restarts. Default: a kubelet's. */
  backOff?: BackOffLimits;
}

export interface ReferenceCluster extends AsyncDisposable {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  /** Where etcd listens, without TLS: `http://127.0.0.1:port` */
  readonly etcdUrl: string;
  /** PEM of the authority that signed every certificate here. */
  readonly ca: string;
  /** PEM of a client certificate in the group system:masters. */
  readonly adminCert: string;
  readonly adminKey: string;
  /** Bearer token of the same rights. */
  readonly token: string;
  readonly kubeconfig: string;
  readonly kubeconfigPath: string;
  readonly binaries: ReferenceBinaries;
  /** Process ids by the name of the binary. */
  readonly pids: Readonly<Record<string, number>>;
  /** Folder of certificates, logs and etcd's data; gone after `stop`. */
  readonly dir: string;
  /** The machine as its pods see it, with `processNode`: listen here for what they shall reach. */
  readonly hostAddress?: string;
  /** The last lines of every process's log, containers included. */
  logs(lines?: number): Promise<string>;
  /** Kills the API server and starts it again at the same address, on the same storage. Resolves when it is ready. */
  restartApiServer(): Promise<void>;
  /** Ends every process and removes the folder. Calling it again does nothing. */
  stop(): Promise<void>;
}

/** Thrown when there is nothing to start; its message is a sentence for people. */
export class ReferenceClusterUnavailable extends Error {
  constructor({ reason }: NoReferenceBinaries) {
    super(`the reference cluster is not available: ${reason}`);
    this.name = 'ReferenceClusterUnavailable';
  }
}

const stopGraceMs = 3_000;

/** Starts the real kube-apiserver on loopback, with RBAC and certificates of its own. */
export async function startReferenceCluster(options: ReferenceClusterOptions = {}): Promise<ReferenceCluster> {
  const binaries = options.binaries ?? (await findBinaries(options));
  if (options.controllers && !binaries.kubeControllerManager) {
    throw new Error(`controllers: true needs kube-controller-manager, which ${binaries.dir} does not hold`);
  }
  if (options.processNode) {
    const problem = options.simulateNodes ? 'made-up nodes would take its pods' : processNodeProblem();
    if (problem) throw new Error(`processNode is not possible: ${problem}`);
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnFreePorts(binaries, options);
    } catch (error) {
      // Between finding a free port and using it, somebody else may take it.
      if (attempt === 3 || !String(error).includes('address already in use')) throw error;
      options.log?.('a port was taken meanwhile, starting again on others');
    }
  }
}

async function findBinaries({ log, controllers }: ReferenceClusterOptions): Promise<ReferenceBinaries> {
  const found = await ensureReferenceBinaries({ log, tools: controllers ? ['kube-controller-manager'] : [] });
  if (!found.available) throw new ReferenceClusterUnavailable(found);
  for (const note of found.notes) log?.(note);
  return found;
}

async function startOnFreePorts(
  binaries: ReferenceBinaries,
  options: ReferenceClusterOptions,
): Promise<ReferenceCluster> {
  const log = options.log ?? (() => {});
  const deadline = AbortSignal.timeout(options.startTimeoutMs ?? 90_000);
  const startedAt = performance.now();
  const dir = await mkdtemp(join(tmpdir(), 'slipway-reference-'));
  const network = options.processNode ? await claimPodNetwork() : undefined;
  const removal = network && networkRemoval(network);
  const guard = startOrphanGuard(dir, removal);
  const children: Child[] = [];

  const onExit = () => {
    for (const child of children) child.kill('SIGKILL');
    if (removal) spawnSync(removal[0], removal.slice(1));
    rmSync(dir, { recursive: true, force: true });
  };
  process.once('exit', onExit);

  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= stopEverything());
  async function stopEverything(): Promise<void> {
    // The storage goes last: an API server without it waits for it until it is killed.
    for (const child of children.toReversed()) await child.stop(stopGraceMs);
    if (removal) spawnSync(removal[0], removal.slice(1));
    await rm(dir, { recursive: true, force: true });
    process.off('exit', onExit);
    guard.dismiss();
  }

  async function start(name: string, binary: string, args: readonly string[]): Promise<Child> {
    const child = await startChild(name, binary, args, join(dir, `${name}.log`));
    children.push(child);
    guard.watch(children.map(({ pid }) => pid));
    return child;
  }

  try {
    const [etcdPort, peerPort, port] = await freePorts(3);
    const url = `https://127.0.0.1:${port}`;
    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    const etcd = await start(
      'etcd',
      binaries.etcd,
      etcdArguments({ dataDir: join(dir, 'etcd'), clientUrl: etcdUrl, peerUrl: `http://127.0.0.1:${peerPort}` }),
    );

    const credentials = await writeCredentials(dir, url, network ? [network.hostAddress] : []);
    const startApiServer = async (limit: AbortSignal): Promise<Child> => {
      const args = apiServerArguments({
        port: port!,
        etcdUrl,
        dir,
        serviceAccountAdmission: options.serviceAccountAdmission ?? network !== undefined,
        endpointRouting: network !== undefined,
        serviceAddresses: network?.serviceAddresses,
        extra: options.apiServerArgs ?? [],
      });
      const child = await start('kube-apiserver', binaries.kubeApiserver, args);
      using client = new AdminClient({ url, ...credentials });
      await until(isReady(client), 'kube-apiserver to be ready', [etcd, child], limit);
      return child;
    };
    let apiServer = await startApiServer(deadline);
    using admin = new AdminClient({ url, ...credentials });
    log(`kube-apiserver is ready at ${url} after ${Math.round(performance.now() - startedAt)} ms`);

    await options.beforeControllers?.({ url, ...credentials });
    if (options.simulateNodes) {
      const script = join(import.meta.dirname, 'node-simulator.ts');
      const simulator = await start('node-simulator', process.execPath, [script, url, dir, `${options.simulateNodes}`]);
      await until(nodesReady(admin, options.simulateNodes), 'the simulated nodes', [apiServer, simulator], deadline);
    }
    if (options.processNode && network) {
      const { images, backOff } = options.processNode;
      const settings: ProcessNodeSettings = { url, dir, networkIndex: network.index, images, backOff };
      const script = join(import.meta.dirname, 'process-node', 'process-node.ts');
      const node = await start('process-node', process.execPath, [script, JSON.stringify(settings)]);
      await until(nodesReady(admin, 1), 'the node', [apiServer, node], deadline);
    }
    if (options.controllers) {
      const controllerManager = await start(
        'kube-controller-manager',
        binaries.kubeControllerManager!,
        controllerManagerArguments({
          dir,
          simulatedNodes: (options.simulateNodes ?? 0) > 0 || network !== undefined,
          extra: options.controllerManagerArgs ?? [],
        }),
      );
      await until(controllersWork(admin), 'the controllers to work', [etcd, apiServer, controllerManager], deadline);
      log(`kube-controller-manager works after ${Math.round(performance.now() - startedAt)} ms`);
    }

    return {
      url,
      etcdUrl,
      ...credentials,
      binaries,
      dir,
      ...(network ? { hostAddress: network.hostAddress } : {}),
      get pids() {
        return Object.fromEntries(children.map(({ name, pid }) => [name, pid]));
      },
      logs: async (lines) => await joinedLogs([...children, ...(await containerLogs(dir))], lines),
      async restartApiServer() {
        apiServer.kill('SIGKILL');
        await apiServer.exited;
        children.splice(children.indexOf(apiServer), 1);
        apiServer = await startApiServer(AbortSignal.timeout(options.startTimeoutMs ?? 90_000));
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const logs = await joinedLogs(children);
    await stop();
    throw new Error(`the reference cluster did not start: ${message}\n${logs}`, { cause: error });
  }
}

type Credentials = Pick<ReferenceCluster, 'ca' | 'adminCert' | 'adminKey' | 'token' | 'kubeconfig' | 'kubeconfigPath'>;

async function writeCredentials(dir: string, url: string, addresses: readonly string[]): Promise<Credentials> {
  const authority = await createCertificateAuthority('slipway-reference');
  const ca = authority.certificate;
  const serving = await authority.issue({
    commonName: 'kube-apiserver',
    dnsNames: [
      'localhost',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
    ],
    ipAddresses: ['127.0.0.1', '::1', kubernetesServiceAddress, ...addresses],
  });
  const admin = await authority.issue({ commonName: 'kubernetes-admin', organizations: ['system:masters'] });
  const controllerManager = await authority.issue({ commonName: 'system:kube-controller-manager' });
  const serviceAccounts = createServiceAccountKeys();
  const token = randomBytes(24).toString('hex');
  const kubeconfig = renderKubeconfig(url, ca, admin);
  const kubeconfigPath = join(dir, 'admin.kubeconfig');

  const files: Record<string, string> = {
    'ca.crt': ca,
    'apiserver.crt': serving.certificate,
    'apiserver.key': serving.key,
    'admin.crt': admin.certificate,
    'admin.key': admin.key,
    'service-account.key': serviceAccounts.privateKey,
    'service-account.pub': serviceAccounts.publicKey,
    'tokens.csv': `${token},kubernetes-admin,kubernetes-admin,"system:masters"\n`,
    'admin.kubeconfig': kubeconfig,
    'controller-manager.kubeconfig': renderKubeconfig(url, ca, controllerManager),
  };
  await Promise.all(
    Object.entries(files).map(([name, content]) => writeFile(join(dir, name), content, { mode: 0o600 })),
  );
  return { ca, adminCert: admin.certificate, adminKey: admin.key, token, kubeconfig, kubeconfigPath };
}

function isReady(admin: AdminClient): (signal: AbortSignal) => Promise<boolean> {
  return async (signal) => {
    const ready = await admin.send('GET', '/readyz', { signal });
    return ready.status === 200 && (await admin.send('GET', '/api/v1/namespaces/default', { signal })).status === 200;
  };
}

function nodesReady(admin: AdminClient, count: number): (signal: AbortSignal) => Promise<boolean> {
  interface Node {
    status: { conditions?: { type: string; status: string }[] };
  }
  return async (signal) => {
    const { items } = await admin.call<{ items: Node[] }>('GET', '/api/v1/nodes', { signal });
    const ready = items.filter(({ status }) =>
      status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True'),
    );
    return ready.length >= count;
  };
}

/** The two objects that every namespace gets show that controllers are past their start. */
function controllersWork(admin: AdminClient): (signal: AbortSignal) => Promise<boolean> {
  const objects = ['serviceaccounts/default', 'configmaps/kube-root-ca.crt'];
  return async (signal) => {
    for (const object of objects) {
      const answer = await admin.send('GET', `/api/v1/namespaces/default/${object}`, { signal });
      if (answer.status !== 200) return false;
    }
    return true;
  };
}

async function until(
  holds: (signal: AbortSignal) => Promise<boolean>,
  what: string,
  needed: readonly Child[],
  deadline: AbortSignal,
): Promise<void> {
  let last = '';
  while (!deadline.aborted) {
    const dead = needed.find((child) => child.hasExited());
    if (dead) throw new Error(`${dead.name} ended with ${dead.howItEnded()}`);
    try {
      if (await holds(deadline)) return;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(50);
  }
  throw new Error(`waited too long for ${what}${last && ` (${last})`}`);
}

/** Of containers that ran as processes, by the names of their files. */
async function containerLogs(dir: string): Promise<{ name: string; logFile: string }[]> {
  const folder = join(dir, 'pods');
  const files = await readdir(folder).catch(() => []);
  return files
    .filter((file) => file.endsWith('.log'))
    .map((file) => ({ name: file.replace(/\.log$/, ''), logFile: join(folder, file) }));
}

async function joinedLogs(children: readonly Pick<Child, 'name' | 'logFile'>[], lines?: number): Promise<string> {
  const tails = await Promise.all(children.map(async (child) => `--- ${child.name}\n${await tailOfLog(child, lines)}`));
  return tails.join('\n');
}
