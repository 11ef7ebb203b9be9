import { failureText, step } from '../operator-error.ts';
import type { Platform } from '../platform/platform.ts';
import { installationState, updateInstallationStatus } from '../state/installation-status.ts';
import { bootstrap } from './bootstrap.ts';
import { install } from './install.ts';
import { validateCluster } from './validate-cluster.ts';

/** How long after a failure the installation begins anew. */
export const retryAfterMs = 1000;

/**
 * One attempt at installing the platform. Gives whether it is installed; what failed is in the status. An installation that is
 * complete is left alone from the first step on: bootstrapping again would put the initial values over what its users changed.
 */
export async function reconcileInstall(platform: Platform, attempt: number): Promise<boolean> {
  const { client, log, signal } = platform;
  let begun = false;
  try {
    if ((await installationState(client)) === 'completed') {
      log.info('Installation already completed, skipping install steps');
      return true;
    }
    log.info('Starting installation attempt', { attempt });
    await updateInstallationStatus(platform, 'in-progress', attempt);
    begun = true;
    await step('Cluster validation failed', () => validateCluster(platform));
    await step('Bootstrap process failed', () => bootstrap(platform));
    await step('Install process failed', () => install(platform));
    await updateInstallationStatus(platform, 'completed', attempt);
    log.info('Installation succeeded', { attempt });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    log.error('Installation failed', { attempt, error });
    // What was never said to be in progress has not failed: it has not begun.
    if (!begun) return false;
    await updateInstallationStatus(platform, 'failed', attempt, failureText(error)).catch((unwritten: unknown) =>
      log.warn('the installation status was not written', { error: unwritten }),
    );
    return false;
  }
}
