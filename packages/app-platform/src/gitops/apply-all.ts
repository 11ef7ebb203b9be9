import { sleep } from '@slipway/kube';

import type { WorkingCopy } from '../git/working-copy.ts';
import { step } from '../operator-error.ts';
import { applyAsApps } from '../platform/applications.ts';
import { commit } from '../platform/commit.ts';
import { deployingNow } from '../platform/deploying.ts';
import type { Platform } from '../platform/platform.ts';
import { runtimeUpgrade } from '../platform/runtime-upgrade.ts';
import { setDeploymentState } from '../state/deployment-state.ts';
import { applyTeams } from './apply-teams.ts';

const retries = 3;
const pauseMs = 1000;

/** The full apply, tried a few times before it counts as failed. */
export async function apply(platform: Platform, copy: WorkingCopy): Promise<void> {
  const { clock, log, signal } = platform;
  await step('Apply operation failed', async () => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await applyAll(platform, copy);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (attempt >= retries) throw error;
        log.warn('the apply failed and is tried again', { attempt, error });
        await sleep(clock, pauseMs, signal);
      }
    }
  });
}

async function applyAll(platform: Platform, copy: WorkingCopy): Promise<void> {
  const { client } = platform;
  const deploying = await deployingNow(platform);
  // Before the upgrades: they run between the version that is there and the one that is said to come.
  const state = await setDeploymentState(client, { status: 'deploying', ...deploying });
  await runtimeUpgrade(platform, 'pre', state);
  await applyTeams(platform);
  await applyAsApps(platform);
  await runtimeUpgrade(platform, 'post', state);
  await commit(platform, copy, false);
  // At the very end: an upgrade that failed is repeated.
  await setDeploymentState(client, {
    status: 'deployed',
    tag: deploying.deployingTag,
    version: deploying.deployingVersion,
  });
}
