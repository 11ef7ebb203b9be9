import { seconds } from '@slipway/kube';

import type { ComponentContext } from '../../../component/define-component.ts';
import { type CoreCluster, onboardingCluster } from '../../../core-cluster.ts';
import type { ConnectTarget } from '../../../target/target.ts';
import { isReachable } from '../../../target/reachability.ts';
import type { ApiServerProvider, ProvidedApiServer } from '../../provider.ts';
import { ensureAddress } from './address.ts';
import { ensureCertificates } from './certificates.ts';
import { ensureControllerManager } from './controller-manager.ts';
import { ensureEtcd } from './etcd.ts';
import { identityProvidersChanged } from '../authentication-configuration.ts';
import { ensureAuthenticationFile, followIdentityProviders } from './identity-providers.ts';
import { ensureKubeApiServer } from './kube-api-server.ts';
import { ensureNamespace } from './namespace.ts';
import { insideUrl, type Place, placeOf } from './place.ts';
import { removeControlPlane } from './removal.ts';
import { ensureServiceAccountKeys } from './service-account-keys.ts';
import type { HostedSettings } from './settings.ts';
import { decideVersion, versionCondition } from './version.ts';

export interface HostedOptions {
  readonly settings: HostedSettings;
  readonly connect: ConnectTarget;
  /** Where the pods run. Default: the onboarding cluster. */
  readonly host?: CoreCluster;
  /** How often it is looked at while nothing happens, in milliseconds: pods are not watched, so their death shows then. Default 30 s. */
  readonly lookMs?: number;
}

/** While something starts or ends. */
const soonMs = seconds(1);

/** API servers as pods of a cluster: kube-apiserver, kube-controller-manager and etcd for each control plane, in a namespace of its own. */
export function hostedProvider(options: HostedOptions): ApiServerProvider {
  const { settings, host = onboardingCluster } = options;
  const place = async (context: ComponentContext<'APIServer'>): Promise<Place> =>
    placeOf(context.component, { client: await host(context), settings, nowMs: context.clock.now() });
  return {
    name: 'hosted',
    // It writes identity providers to the control plane, which we have to tell the API server about.
    watches: [identityProvidersChanged],
    async ensure(context) {
      return await ensureControlPlane(context, await place(context), options);
    },
    async remove(context) {
      const left = await removeControlPlane(await place(context));
      return left === undefined ? undefined : waiting(left);
    },
  };
}

/** Everything of a control plane, from the ground up. Each step finds what it made before, so any of them may be the last. */
async function ensureControlPlane(
  context: ComponentContext<'APIServer'>,
  place: Place,
  { connect, lookMs = seconds(30) }: HostedOptions,
): Promise<ProvidedApiServer> {
  // 1. A namespace of its own.
  const obstacle = await ensureNamespace(place);
  if (obstacle) return waiting(obstacle);

  // 2. Services. Certificates bear their address.
  const address = await ensureAddress(place);
  if (typeof address === 'string') return waiting(address);

  // 3. Certificates.
  const credentials = await ensureCertificates(place, address);
  const kubeconfig = context.internal(credentials.certificates.admin['kubeconfig']!);

  // 4. The key of ServiceAccount tokens.
  const keyFingerprint = await ensureServiceAccountKeys(place);

  // 5. etcd.
  const etcd = await ensureEtcd(place, credentials);
  if (!etcd.serves) return waiting(`etcd is not ready: ${etcd.message}`);

  // 6. The file with identity providers.
  await ensureAuthenticationFile(place);

  // 7. The API server, in the version it is to have.
  const decision = await decideVersion(place);
  const parts = { credentials, keyFingerprint, version: decision.version };
  const apiServer = await ensureKubeApiServer(place, parts);
  if (!apiServer.serves) return waiting(`the API server is not ready: ${apiServer.message}`);

  // 8. The controller manager, once no older API server is left.
  const controllers = apiServer.rolledOut ? await ensureControllerManager(place, parts) : undefined;
  if (controllers && !controllers.serves) return waiting(`the controller manager is not ready: ${controllers.message}`);

  // 9. Does it answer?
  const target = await connect(kubeconfig.reveal());
  if (!(await isReachable(target))) return waiting('the API server runs but does not answer at its address yet');

  // 10. Whom it trusts.
  for (const leftOut of await followIdentityProviders(place, target)) {
    context.events.warning(context.component, 'IdentityProviderIgnored', leftOut);
  }

  const rolledOut = etcd.rolledOut && apiServer.rolledOut && controllers?.rolledOut === true;
  return {
    ready: true,
    bootstrapKubeconfig: kubeconfig.reveal(),
    endpoint: address.url,
    serviceAccountIssuer: insideUrl(place),
    conditions: [versionCondition(decision, rolledOut)],
    requeueAfterMs: rolledOut ? Math.min(lookMs, Math.max(soonMs, credentials.renewAtMs - place.nowMs)) : soonMs,
  };
}

function waiting(message: string) {
  return { ready: false, reason: 'WaitingForAPIServer', message, requeueAfterMs: soonMs } as const;
}
