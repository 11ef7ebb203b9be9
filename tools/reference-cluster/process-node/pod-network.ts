import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ip = (...args: readonly string[]) => run('ip', args);

/** A bridge with addresses of its own, 198.18.`index`.0/24; from the range that is reserved for benchmarks of networks. */
export interface PodNetwork {
  readonly index: number;
  readonly bridge: string;
  /** Of the machine, as pods see it: the API server is there on port 443. */
  readonly hostAddress: string;
  /** Services of the cluster have their addresses here. */
  readonly serviceAddresses: string;
}

export const podNetwork = (index: number): PodNetwork => ({
  index,
  bridge: `slipway${index}`,
  hostAddress: `198.18.${index}.1`,
  serviceAddresses: `198.19.${index}.0/24`,
});

/** The address of the pod with this number, counted from 0. They are used again after 250 pods. */
export const podAddress = ({ index }: PodNetwork, pod: number): string => `198.18.${index}.${(pod % 250) + 2}`;

/** Command that removes the network, with everything that hangs on it. */
export const networkRemoval = ({ bridge }: PodNetwork): readonly [string, ...string[]] => [
  'ip',
  'link',
  'delete',
  bridge,
];

/** Why containers cannot run as processes here; `undefined` when they can. */
export function processNodeProblem(): string | undefined {
  if (process.platform !== 'linux') return `containers run as processes on Linux only, not on ${process.platform}`;
  if (process.getuid?.() !== 0) return 'containers run as processes only for root, who may make network namespaces';
  for (const tool of ['ip', 'nsenter', 'unshare', 'mount', 'chroot']) {
    if (spawnSync('which', [tool]).status !== 0) return `containers run as processes only where ${tool} is installed`;
  }
  const tried = spawnSync('unshare', ['--net', '--mount', 'true']);
  return tried.status === 0 ? undefined : 'this machine lets nobody make network and mount namespaces';
}

/** Takes a network nobody else on this machine has: making a bridge of a name that exists fails. */
export async function claimPodNetwork(): Promise<PodNetwork> {
  let last: unknown;
  for (let index = 0; index < 250; index++) {
    const network = podNetwork(index);
    try {
      await ip('link', 'add', network.bridge, 'type', 'bridge');
    } catch (error) {
      last = error;
      continue;
    }
    await ip('address', 'add', `${network.hostAddress}/24`, 'dev', network.bridge);
    await ip('link', 'set', network.bridge, 'up');
    return network;
  }
  throw new Error('no network for pods could be made', { cause: last });
}

/** Connects the network namespace of a process: `eth0` with the pod's address, and the way to everybody else. */
export async function connectPod(network: PodNetwork, pid: number, address: string): Promise<void> {
  const outside = `s${network.index}p${address.split('.')[3]}`;
  const inside = (...args: readonly string[]) => run('nsenter', [`--net=/proc/${pid}/ns/net`, 'ip', ...args]);
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${pid}`);
  await ip('link', 'set', outside, 'master', network.bridge, 'up');
  await inside('link', 'set', 'lo', 'up');
  await inside('address', 'add', `${address}/24`, 'dev', 'eth0');
  await inside('link', 'set', 'eth0', 'up');
  await inside('route', 'add', 'default', 'via', network.hostAddress);
}
