import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { follow, type FollowOptions } from '../follow.ts';
import { ObjectSteps } from '../object-steps.ts';
import { forwardPort } from './forward-port.ts';
import type { PodNetwork } from './pod-network.ts';
import { type EndpointSliceObject, ServiceDirectory, type ServiceObject } from './service-directory.ts';

const run = promisify(execFile);
const mergePatch = { 'content-type': 'application/merge-patch+json' };

export interface ServiceProxyOptions extends FollowOptions {
  network: PodNetwork;
  /** The file that pods have as `/etc/hosts`. It is there already: pods must not start without it. */
  hostsFile: string;
}

/**
 * Gives Services a meaning, as kube-proxy and a cluster's DNS do: their cluster addresses are addresses of this machine, where a listener
 * hands connections to the pods behind them, and their names are in a file every pod has as `/etc/hosts`. Ports of the node are there at the
 * machine's address. A load balancer's address is the cluster address, which this machine reaches too. TCP only.
 */
export async function serveServices(options: ServiceProxyOptions): Promise<void> {
  const { admin, signal, log, network, hostsFile } = options;
  const directory = new ServiceDirectory();
  const listeners = new Map<string, AsyncDisposable[]>();
  await using steps = new ObjectSteps(signal, log);
  const rewrite = () => steps.run(hostsFile, () => writeInPlace(hostsFile, directory.hosts()));

  async function listen(service: ServiceObject): Promise<void> {
    const { metadata, spec, status } = service;
    const address = spec.clusterIP;
    if (!address || address === 'None') return;
    if (!listeners.has(metadata.uid)) {
      const opened: AsyncDisposable[] = [];
      listeners.set(metadata.uid, opened);
      await run('ip', ['address', 'replace', `${address}/32`, 'dev', network.bridge]);
      let turn = 0;
      for (const { name, port, nodePort, protocol = 'TCP' } of spec.ports ?? []) {
        if (protocol !== 'TCP') continue;
        const next = () => directory.endpoint(service, name, turn++);
        opened.push(await forwardPort({ host: address, port }, next));
        if (nodePort) opened.push(await forwardPort({ host: network.hostAddress, port: nodePort }, next));
      }
    }
    if (spec.type === 'LoadBalancer' && !status?.loadBalancer?.ingress?.length) {
      const path = `/api/v1/namespaces/${metadata.namespace}/services/${metadata.name}/status`;
      const body = { status: { loadBalancer: { ingress: [{ ip: address }] } } };
      await admin.call('PATCH', path, { headers: mergePatch, body, signal });
    }
  }

  async function close({ metadata, spec }: ServiceObject): Promise<void> {
    for (const listener of listeners.get(metadata.uid) ?? []) await listener[Symbol.asyncDispose]();
    if (listeners.delete(metadata.uid))
      await run('ip', ['address', 'delete', `${spec.clusterIP}/32`, 'dev', network.bridge]);
  }

  // The one Service nobody runs pods for: pods reach the API server at the address in their environment.
  const isOwn = ({ metadata }: ServiceObject) => metadata.namespace === 'default' && metadata.name === 'kubernetes';
  const services = follow<ServiceObject>(
    '/api/v1/services',
    (service) => {
      if (isOwn(service)) return;
      directory.putService(service);
      steps.run(service.metadata.uid, () => listen(service));
      rewrite();
    },
    {
      ...options,
      onDeleted(service) {
        directory.dropService(service);
        steps.run(service.metadata.uid, () => close(service));
        rewrite();
      },
    },
  );
  const slices = follow<EndpointSliceObject>(
    '/apis/discovery.k8s.io/v1/endpointslices',
    (slice) => {
      directory.putSlice(slice);
      rewrite();
    },
    {
      ...options,
      onDeleted(slice) {
        directory.dropSlice(slice);
        rewrite();
      },
    },
  );
  await Promise.all([services, slices]);
  for (const opened of listeners.values()) for (const listener of opened) await listener[Symbol.asyncDispose]();
}

/** The same file, because that one is mounted: a new file under the old name would not be seen. */
async function writeInPlace(path: string, text: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write(text, 0);
    await file.truncate(Buffer.byteLength(text));
  } finally {
    await file.close();
  }
}
