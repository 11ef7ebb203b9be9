import { Secret } from '@slipway/kube';

import { ComponentError } from '../../component/component-error.ts';
import type { ApiServerProvider } from '../provider.ts';

export interface ExistingOptions {
  /** The Secret with the kubeconfig of the API server that serves every control plane. */
  readonly secret: { readonly namespace: string; readonly name: string; readonly key: string };
}

/** Control planes on an API server that is there already. They share it, so it is for one control plane or for trying things out. */
export function existingProvider({ secret }: ExistingOptions): ApiServerProvider {
  return {
    name: 'existing',
    async ensure({ client }) {
      const where = `Secret ${secret.namespace}/${secret.name}`;
      const found = await client.get(Secret, { namespace: secret.namespace, name: secret.name });
      if (found === undefined) {
        return {
          ready: false,
          reason: 'ConfigurationProblem',
          message: `${where} with the kubeconfig of the API server does not exist; create it`,
          requeueAfterMs: 10_000,
        };
      }
      const encoded = found.data?.[secret.key];
      if (encoded === undefined) {
        throw new ComponentError(
          'ConfigurationProblem',
          `${where} has no key ${secret.key} with the kubeconfig of the API server`,
        );
      }
      return { ready: true, bootstrapKubeconfig: Buffer.from(encoded, 'base64').toString('utf8') };
    },
    // It was there before and stays.
    remove: async () => undefined,
  };
}
