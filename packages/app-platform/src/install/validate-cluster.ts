import { OperatorError } from '../operator-error.ts';
import type { Platform } from '../platform/platform.ts';
import { compareVersions } from '../platform/version.ts';

const oldest = '1.29';

/** Whether the platform can live on this cluster. A server that does not tell its version is given the benefit of the doubt. */
export async function validateCluster({ client, log, signal }: Platform): Promise<void> {
  const version = await client.serverVersion({ signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    log.warn('the cluster does not tell its version', { error });
    return undefined;
  });
  if (version && compareVersions(version.gitVersion, oldest) < 0)
    throw new OperatorError(
      'ClusterTooOld',
      `Kubernetes ${version.gitVersion} is too old; upgrade the cluster to ${oldest} or newer`,
    );
}
