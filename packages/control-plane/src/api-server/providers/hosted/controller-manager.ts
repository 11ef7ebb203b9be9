import { Deployment } from '@slipway/kube';

import { applyOnce } from '../../../apply-once.ts';
import { podLabels } from './address.ts';
import { certificateNames, type Credentials } from './certificates.ts';
import { versionLabel } from './kube-api-server.ts';
import { metadataIn, object, objectNames, type Place, ports } from './place.ts';
import { podTemplate, type Progress, progressOf } from './workload.ts';

const folder = '/etc/kubernetes';
const name = objectNames.controllerManager;

/** Step 8: the controller manager. It must never be newer than the API server, so it comes after it. */
export async function ensureControllerManager(
  place: Place,
  { credentials, keyFingerprint, version }: { credentials: Credentials; keyFingerprint: string; version: string },
): Promise<Progress> {
  const { object: applied } = await applyOnce(
    place.client,
    Deployment,
    object('apps/v1', 'Deployment', metadataIn(place, name, { [versionLabel]: version }), {
      spec: {
        replicas: 1,
        selector: { matchLabels: podLabels(place, name) },
        template: podTemplate(place, {
          component: name,
          image: place.settings.images.controllerManager.replaceAll('{version}', version),
          command: 'kube-controller-manager',
          args: controllerManagerArguments,
          port: { name: 'https', containerPort: ports.controllerManager },
          files: [
            { name: 'user', path: `${folder}/user`, secret: certificateNames.controllerManager, keys: ['kubeconfig'] },
            { name: 'ca', path: `${folder}/ca`, secret: 'ca' },
            {
              name: 'service-account',
              path: `${folder}/service-account`,
              secret: objectNames.serviceAccountKeys,
              keys: ['service-account.key'],
            },
          ],
          requests: { cpu: '100m', memory: '128Mi' },
          readiness: { httpGet: { path: '/healthz', port: 'https', scheme: 'HTTPS' } },
          liveness: { httpGet: { path: '/healthz', port: 'https', scheme: 'HTTPS' } },
          // It reads nothing twice, and nobody notices when it starts again.
          readAtStart: [
            credentials.authorities.ca.bundle,
            credentials.certificates.controllerManager['tls.crt']!,
            keyFingerprint,
          ],
        }),
      },
    }),
  );
  return await progressOf(place, name, applied);
}

const controllerManagerArguments = [
  `--kubeconfig=${folder}/user/kubeconfig`,
  `--authentication-kubeconfig=${folder}/user/kubeconfig`,
  `--authorization-kubeconfig=${folder}/user/kubeconfig`,
  `--secure-port=${ports.controllerManager}`,
  '--leader-elect=true',
  '--use-service-account-credentials=true',
  `--service-account-private-key-file=${folder}/service-account/service-account.key`,
  `--root-ca-file=${folder}/ca/ca.crt`,
  `--cluster-signing-cert-file=${folder}/ca/tls.crt`,
  `--cluster-signing-key-file=${folder}/ca/tls.key`,
  '--profiling=false',
];
