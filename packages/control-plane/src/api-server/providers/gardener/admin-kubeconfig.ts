import type { Client } from '@slipway/kube';

import { ComponentError } from '../../../component/component-error.ts';
import type { AdminKubeconfigIssuer } from './provider.ts';

const lifetimeSeconds = 3600;

/** Asks the garden for an administrator's kubeconfig that lasts an hour. */
export function shootKubeconfigs(garden: () => Promise<Pick<Client, 'request'>>): AdminKubeconfigIssuer {
  return async ({ namespace, name }) => {
    const client = await garden();
    const answer = (await client.request({
      method: 'POST',
      path: `/apis/core.gardener.cloud/v1beta1/namespaces/${namespace}/shoots/${name}/adminkubeconfig`,
      body: {
        apiVersion: 'authentication.gardener.cloud/v1alpha1',
        kind: 'AdminKubeconfigRequest',
        spec: { expirationSeconds: lifetimeSeconds },
      },
    })) as { status?: { kubeconfig?: string } };
    const encoded = answer.status?.kubeconfig;
    if (!encoded) {
      throw new ComponentError('APIServerAccessProvisioningNotPossible', 'the garden gave no kubeconfig of the shoot');
    }
    return Buffer.from(encoded, 'base64').toString('utf8');
  };
}
