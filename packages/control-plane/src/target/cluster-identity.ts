import { KubeError, Namespace } from '@slipway/kube';

import { ComponentError } from '../component/component-error.ts';
import type { Target } from './target.ts';

/**
 * What tells one cluster from another: the uid of the namespace every cluster has. Fails with what to do when the cluster does not answer
 * properly, and when it is not the one it was.
 */
export async function clusterIdentity(
  { client, server }: Target,
  known: { readonly identity?: string; readonly where?: string } = {},
): Promise<string> {
  const found = await client.get(Namespace, { name: 'kube-system' }).catch((error: unknown) => {
    throw explained(error, server);
  });
  const identity = found?.metadata?.uid;
  if (typeof identity !== 'string' || identity === '') {
    throw new ComponentError(
      'APIServerUnreachable',
      `${server} answers, but not as an API server does; check its address`,
    );
  }
  if (known.identity !== undefined && known.identity !== identity) {
    throw new ComponentError(
      'APIServerIdentityChanged',
      `${server} is another cluster than before; correct the kubeconfig or, if this is meant, delete ${known.where ?? 'our access to it'}`,
    );
  }
  return identity;
}

/** The same failure with what to do about it. What the server said is not repeated: it may be anything. */
function explained(error: unknown, server: string): unknown {
  if (!(error instanceof KubeError)) return error;
  if (error.code === 401) {
    return new ComponentError(
      'APIServerAccessRefused',
      `${server} does not accept our credentials; they have expired or were withdrawn: renew the kubeconfig`,
      { cause: error },
    );
  }
  if (error.code === 403) {
    return new ComponentError(
      'APIServerAccessRefused',
      `${server} does not let us read namespaces; the kubeconfig has to be an administrator's`,
      { cause: error },
    );
  }
  if (isForeignCertificate(error)) {
    return new ComponentError(
      'APIServerIdentityChanged',
      `the certificate of ${server} is not from the authority in the kubeconfig; it is another cluster, or its authority was replaced: renew the kubeconfig`,
      { cause: error },
    );
  }
  if (error.reason === 'BadAnswer' || error.code === 404) {
    return new ComponentError(
      'APIServerUnreachable',
      `${server} answers, but not as an API server does; check its address`,
      {
        cause: error,
      },
    );
  }
  if (error.code === 0 || error.code >= 500) {
    return new ComponentError(
      'APIServerUnreachable',
      `${server} does not answer; check that it runs and can be reached`,
      {
        cause: error,
      },
    );
  }
  return error;
}

const certificateCodes = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function isForeignCertificate(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (certificateCodes.has((each as NodeJS.ErrnoException).code ?? '')) return true;
  }
  return false;
}
