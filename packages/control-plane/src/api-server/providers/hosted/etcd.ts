import { StatefulSet } from '@slipway/kube';

import { applyOnce } from '../../../apply-once.ts';
import { podLabels } from './address.ts';
import { certificateNames, type Credentials } from './certificates.ts';
import { metadataIn, object, objectNames, type Place, ports } from './place.ts';
import { fieldVariable, podTemplate, type Progress, progressOf } from './workload.ts';

const certificates = '/etc/etcd/tls';
const data = '/var/lib/etcd';
const name = objectNames.etcd;

/** Step 5: etcd. An upgrade of Kubernetes does not touch it. */
export async function ensureEtcd(place: Place, credentials: Credentials): Promise<Progress> {
  const { settings } = place;
  const present = await place.client.get(StatefulSet, { namespace: place.namespace, name });
  // Neither members nor their volumes can be changed later.
  const members = present?.spec?.replicas ?? settings.etcd.members;
  const { object: applied } = await applyOnce(
    place.client,
    StatefulSet,
    object('apps/v1', 'StatefulSet', metadataIn(place, name), {
      spec: {
        replicas: members,
        serviceName: name,
        // None of them is ready before most are there.
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: podLabels(place, name) },
        template: podTemplate(place, {
          component: name,
          image: settings.images.etcd,
          command: 'etcd',
          args: etcdArguments(place, members),
          env: [fieldVariable('POD_NAME', 'metadata.name')],
          port: { name: 'client', containerPort: ports.etcdClient },
          files: [{ name: 'tls', path: certificates, secret: certificateNames.etcd }],
          mounts: [{ name: 'data', mountPath: data }],
          requests: { cpu: '100m', memory: '128Mi' },
          readiness: { httpGet: { path: '/health', port: ports.etcdHealth } },
          liveness: { httpGet: { path: '/health?serializable=true', port: ports.etcdHealth } },
          // It reads its certificate again for every connection, but whom it trusts only once.
          readAtStart: [credentials.authorities['etcd-ca'].bundle],
        }),
        volumeClaimTemplates: present?.spec?.volumeClaimTemplates ?? [newClaim(place)],
      },
    }),
  );
  return await progressOf(place, name, applied);
}

export function etcdUrls({ namespace }: Place, members: number, port: number): string[] {
  return Array.from({ length: members }, (_, index) => `https://${name}-${index}.${name}.${namespace}.svc:${port}`);
}

/** How many members it was made with. */
export async function etcdMembers({ client, namespace, settings }: Place): Promise<number> {
  const present = await client.get(StatefulSet, { namespace, name });
  return present?.spec?.replicas ?? settings.etcd.members;
}

function etcdArguments(place: Place, members: number): string[] {
  const own = `$(POD_NAME).${name}.${place.namespace}.svc`;
  const cluster = etcdUrls(place, members, ports.etcdPeer).map((url, index) => `${name}-${index}=${url}`);
  const files = (prefix: string): string[] => [
    `--${prefix}cert-file=${certificates}/tls.crt`,
    `--${prefix}key-file=${certificates}/tls.key`,
    `--${prefix}trusted-ca-file=${certificates}/ca.crt`,
    `--${prefix}client-cert-auth=true`,
  ];
  return [
    '--name=$(POD_NAME)',
    `--data-dir=${data}/data`,
    `--listen-client-urls=https://0.0.0.0:${ports.etcdClient}`,
    `--advertise-client-urls=https://${own}:${ports.etcdClient}`,
    `--listen-peer-urls=https://0.0.0.0:${ports.etcdPeer}`,
    `--initial-advertise-peer-urls=https://${own}:${ports.etcdPeer}`,
    `--initial-cluster=${cluster.join(',')}`,
    `--initial-cluster-token=${place.namespace}`,
    '--initial-cluster-state=new',
    `--listen-metrics-urls=http://0.0.0.0:${ports.etcdHealth}`,
    ...files(''),
    ...files('peer-'),
  ];
}

function newClaim({ labels, settings }: Place): Record<string, unknown> {
  const { storage, storageClassName } = settings.etcd;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', labels },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage } },
      ...(storageClassName ? { storageClassName } : {}),
    },
  };
}
