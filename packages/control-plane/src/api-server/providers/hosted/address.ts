import { isIP } from 'node:net';
import { Service } from '@slipway/kube';

import { applyOnce } from '../../../apply-once.ts';
import { insideUrl, metadataIn, object, objectNames, type Place, ports } from './place.ts';

/** Where the API server is reached, and every name it has to prove. */
export interface Address {
  /** For users and for our controllers. */
  readonly url: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** Step 2: Services, and the address they give. Answers a sentence while there is none. */
export async function ensureAddress(place: Place): Promise<Address | string> {
  const { settings, namespace } = place;
  const { type, annotations } = settings.service;
  await applyOnce(
    place.client,
    Service,
    object('v1', 'Service', metadataIn(place, objectNames.etcd), {
      spec: {
        clusterIP: 'None',
        // Members find each other before they are ready.
        publishNotReadyAddresses: true,
        selector: podLabels(place, objectNames.etcd),
        ports: [
          { name: 'client', port: ports.etcdClient },
          { name: 'peer', port: ports.etcdPeer },
        ],
      },
    }),
  );
  const { object: applied } = await applyOnce(
    place.client,
    Service,
    object(
      'v1',
      'Service',
      { ...metadataIn(place, objectNames.apiServer), ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
      {
        spec: {
          type,
          selector: podLabels(place, objectNames.apiServer),
          ports: [{ name: 'https', port: ports.apiServer, targetPort: 'https' }],
        },
      },
    ),
  );
  const service = applied as Service;
  const { clusterIP } = service.spec ?? {};
  const outside = addressOutside(place, service);
  if (outside === undefined) {
    return `the load balancer of the API server has no address yet; if it stays so, look at Service ${objectNames.apiServer} on the host cluster`;
  }
  const names = [
    outside.host,
    ...insideNames(namespace),
    ...clusterNames,
    firstAddress(settings.serviceAddressRange),
    '127.0.0.1',
  ];
  if (clusterIP) names.push(clusterIP);
  const all = [...new Set(names)];
  return {
    url: outside.url,
    dnsNames: all.filter((name) => isIP(name) === 0),
    ipAddresses: all.filter((name) => isIP(name) !== 0),
  };
}

/** What a Service finds pods by. They never change. */
export function podLabels({ labels }: Place, component: string): Record<string, string> {
  return { ...labels, 'app.kubernetes.io/component': component };
}

function addressOutside(place: Place, { spec, status }: Service): { url: string; host: string } | undefined {
  const { type, externalHost, externalPort } = place.settings.service;
  const { namespace = '', name = '' } = place.apiServer.metadata;
  const servicePort = type === 'NodePort' ? spec?.ports?.[0]?.nodePort : ports.apiServer;
  if (externalHost !== undefined) {
    const host = externalHost.replaceAll('{name}', name).replaceAll('{namespace}', namespace);
    return { host, url: urlOf(host, externalPort ?? servicePort ?? ports.apiServer) };
  }
  if (type !== 'LoadBalancer') return { url: insideUrl(place), host: new URL(insideUrl(place)).hostname };
  const [given] = status?.loadBalancer?.ingress ?? [];
  const host = given?.ip ?? given?.hostname;
  return host === undefined ? undefined : { host, url: urlOf(host, externalPort ?? ports.apiServer) };
}

function urlOf(host: string, port: number): string {
  return `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

function insideNames(namespace: string): string[] {
  const name = `${objectNames.apiServer}.${namespace}`;
  return [objectNames.apiServer, name, `${name}.svc`, `${name}.svc.cluster.local`];
}

/** As programs inside the control plane would know it. */
const clusterNames = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'localhost',
];

/** The API server gives the first address of its range to itself. */
function firstAddress(range: string): string {
  const [network = ''] = range.split('/');
  const parts = network.split('.').map(Number);
  return [...parts.slice(0, 3), (parts[3] ?? 0) + 1].join('.');
}
