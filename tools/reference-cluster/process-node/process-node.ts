import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AdminClient } from '../admin-client.ts';
import { follow } from '../follow.ts';
import { ObjectSteps } from '../object-steps.ts';
import { startOrphanGuard } from '../orphan-guard.ts';
import { awaitsScheduling, type SimulatedNode } from '../pod-lifecycle.ts';
import { registerNode } from '../register-node.ts';
import { PodScheduler } from '../schedule-pod.ts';
import { simulateVolumes } from '../volume-simulator.ts';
import { type BackOffLimits, kubeletBackOff } from './back-off.ts';
import { forwardPort } from './forward-port.ts';
import type { ImageTable } from './images.ts';
import { podAddress, podNetwork } from './pod-network.ts';
import { PodWorker } from './pod-worker.ts';
import { serveServices } from './service-proxy.ts';
import type { RunnablePod } from './running-pod.ts';

/** What the node is told, as one argument of its process. */
export interface ProcessNodeSettings {
  /** Where the API server listens on this machine. */
  url: string;
  /** Folder with the administrator's credentials; the node keeps its pods in `pods/` below it. */
  dir: string;
  networkIndex: number;
  images: ImageTable;
  backOff?: BackOffLimits;
}

const apiServerPort = 443;
const tokenLookMs = 30_000;

/** A node that runs the containers of its pods as processes of this machine. */
export async function startProcessNode(
  admin: AdminClient,
  settings: ProcessNodeSettings,
  log: (line: string) => void,
): Promise<AsyncDisposable> {
  const { url, dir, images, backOff = kubeletBackOff } = settings;
  const network = podNetwork(settings.networkIndex);
  const folder = join(dir, 'pods');
  const claimsFolder = join(dir, 'claims');
  const hostsFile = join(dir, 'hosts');
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await writeFile(hostsFile, '127.0.0.1 localhost\n');
  const node = processNode(network.hostAddress);
  const guard = startOrphanGuard(folder);
  const forwarding = await forwardPort(
    { host: network.hostAddress, port: apiServerPort },
    { host: '127.0.0.1', port: Number(new URL(url).port) },
  );

  const stopping = new AbortController();
  const { signal } = stopping;
  const steps = new ObjectSteps(signal, log);
  const scheduler = new PodScheduler(admin, [node], signal);
  const workers = new Map<string, PodWorker>();
  const pids = new Set<number>();
  let addresses = 0;

  function onProcess(pid: number, alive: boolean): void {
    if (alive) pids.add(pid);
    else pids.delete(pid);
    guard.watch([...pids]);
  }

  function take(pod: RunnablePod): void {
    const { metadata, spec, status } = pod;
    if (awaitsScheduling(pod)) return steps.run(metadata.uid, () => scheduler.schedule(pod));
    if (spec.nodeName !== node.name) return;
    const known = workers.get(metadata.uid);
    if (known) return known.update(pod);
    if (!metadata.deletionTimestamp && (status?.phase === 'Succeeded' || status?.phase === 'Failed')) return;
    const worker = new PodWorker(pod, {
      admin,
      network,
      address: podAddress(network, addresses++),
      folder: join(folder, `${metadata.namespace}_${metadata.name}_${metadata.uid}`),
      claimsFolder,
      hostsFile,
      images,
      backOff,
      environment: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        KUBERNETES_SERVICE_HOST: network.hostAddress,
        KUBERNETES_SERVICE_PORT: String(apiServerPort),
      },
      onProcess,
      log,
    });
    workers.set(metadata.uid, worker);
    if (metadata.deletionTimestamp) return worker.update(pod);
    worker.start();
  }

  function gone({ metadata }: RunnablePod): void {
    const worker = workers.get(metadata.uid);
    workers.delete(metadata.uid);
    // Taken off by force: the processes end all the same.
    void worker?.end();
  }

  const syncVolumes = () => void Promise.all([...workers.values()].map((worker) => worker.syncVolumes()));
  const tokenLook = setInterval(syncVolumes, tokenLookMs);
  const options = { admin, signal, log };
  await registerNode(admin, node, { reason: 'KubeletReady', message: 'containers run as processes' });
  const following = [
    follow<RunnablePod>('/api/v1/pods', take, { ...options, onDeleted: gone }),
    follow('/api/v1/secrets', syncVolumes, { ...options, onDeleted: syncVolumes }),
    follow('/api/v1/configmaps', syncVolumes, { ...options, onDeleted: syncVolumes }),
    simulateVolumes(options),
    serveServices({ ...options, network, hostsFile }),
  ];
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(tokenLook);
      stopping.abort();
      await Promise.all(following);
      await steps[Symbol.asyncDispose]();
      await Promise.all([...workers.values()].map((worker) => worker.kill(0)));
      await forwarding[Symbol.asyncDispose]();
      guard.dismiss();
    },
  };
}

function processNode(address: string): SimulatedNode {
  const name = 'process-node-1';
  return {
    name,
    address,
    labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
  };
}

async function main([text]: readonly string[]): Promise<void> {
  const settings = JSON.parse(text!) as ProcessNodeSettings;
  using admin = await AdminClient.fromFolder(settings.url, settings.dir);
  const stopped = new Promise((resolve) => {
    process.once('SIGTERM', resolve);
  });
  await using _node = await startProcessNode(admin, settings, (line) => console.log(line));
  await stopped;
}

if (import.meta.main) await main(process.argv.slice(2));
