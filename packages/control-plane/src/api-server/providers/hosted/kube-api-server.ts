import { Deployment } from '@slipway/kube';

import { applyOnce } from '../../../apply-once.ts';
import { podLabels } from './address.ts';
import { certificateNames, type Credentials, frontProxyUser } from './certificates.ts';
import { etcdMembers, etcdUrls } from './etcd.ts';
import { authenticationFile } from '../authentication-configuration.ts';
import { insideUrl, metadataIn, object, objectNames, type Place, ports } from './place.ts';
import { fieldVariable, podTemplate, type Progress, progressOf } from './workload.ts';

const folder = '/etc/kubernetes';
const name = objectNames.apiServer;

/** On the Deployments: what they run. */
export const versionLabel = 'app.kubernetes.io/version';

/** Step 7: the API server. New pods answer before old ones go. */
export async function ensureKubeApiServer(
  place: Place,
  { credentials, keyFingerprint, version }: { credentials: Credentials; keyFingerprint: string; version: string },
): Promise<Progress> {
  const { settings } = place;
  const { object: applied } = await applyOnce(
    place.client,
    Deployment,
    object('apps/v1', 'Deployment', metadataIn(place, name, { [versionLabel]: version }), {
      spec: {
        replicas: settings.apiServer.replicas,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        selector: { matchLabels: podLabels(place, name) },
        template: podTemplate(place, {
          component: name,
          image: settings.images.apiServer.replaceAll('{version}', version),
          command: 'kube-apiserver',
          args: [...apiServerArguments(place, await etcdMembers(place)), ...settings.apiServer.extraArgs],
          env: [fieldVariable('POD_IP', 'status.podIP')],
          port: { name: 'https', containerPort: ports.apiServer },
          files: [
            { name: 'tls', path: `${folder}/tls`, secret: certificateNames.apiServer },
            { name: 'etcd', path: `${folder}/etcd`, secret: certificateNames.etcdClient },
            { name: 'front-proxy', path: `${folder}/front-proxy`, secret: certificateNames.frontProxyClient },
            { name: 'service-account', path: `${folder}/service-account`, secret: objectNames.serviceAccountKeys },
            { name: 'authentication', path: `${folder}/authentication`, configMap: objectNames.authentication },
          ],
          requests: { cpu: '250m', memory: '512Mi' },
          readiness: { httpGet: { path: '/readyz', port: 'https', scheme: 'HTTPS' } },
          liveness: { httpGet: { path: '/livez', port: 'https', scheme: 'HTTPS' } },
          // It reads certificates and identity providers again when their files change; these it does not.
          readAtStart: [credentials.authorities['etcd-ca'].bundle, keyFingerprint],
        }),
      },
    }),
  );
  return await progressOf(place, name, applied);
}

function apiServerArguments(place: Place, members: number): string[] {
  return [
    '--advertise-address=$(POD_IP)',
    `--secure-port=${ports.apiServer}`,
    `--tls-cert-file=${folder}/tls/tls.crt`,
    `--tls-private-key-file=${folder}/tls/tls.key`,
    `--client-ca-file=${folder}/tls/ca.crt`,
    `--etcd-servers=${etcdUrls(place, members, ports.etcdClient).join(',')}`,
    `--etcd-cafile=${folder}/etcd/ca.crt`,
    `--etcd-certfile=${folder}/etcd/tls.crt`,
    `--etcd-keyfile=${folder}/etcd/tls.key`,
    `--requestheader-client-ca-file=${folder}/front-proxy/ca.crt`,
    `--requestheader-allowed-names=${frontProxyUser}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${folder}/front-proxy/tls.crt`,
    `--proxy-client-key-file=${folder}/front-proxy/tls.key`,
    `--service-account-issuer=${insideUrl(place)}`,
    `--service-account-key-file=${folder}/service-account/service-account.pub`,
    `--service-account-signing-key-file=${folder}/service-account/service-account.key`,
    `--service-cluster-ip-range=${place.settings.serviceAddressRange}`,
    `--authentication-config=${folder}/authentication/${authenticationFile}`,
    '--authorization-mode=RBAC',
    '--profiling=false',
    // Who still has the old address is served while the word spreads that this one goes.
    '--shutdown-delay-duration=5s',
  ];
}
