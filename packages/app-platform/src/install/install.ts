import { OperatorError } from '../operator-error.ts';
import { commit } from '../platform/commit.ts';
import { deployEssential } from '../platform/deploy-essential.ts';
import { commitCredentials } from '../platform/git-credentials.ts';
import type { Platform } from '../platform/platform.ts';
import { deployingNow } from '../platform/deploying.ts';
import { setDeploymentState } from '../state/deployment-state.ts';
import { applyCrds } from './apply-crds.ts';
import { takingNothing } from './foreign-fields.ts';
import { initialSetupData } from './initial-setup-data.ts';

/** Puts the platform on the cluster. The order is a contract: others wait for what comes before them. */
export async function install(platform: Platform): Promise<void> {
  const { client, helmfile, layers, log, signal } = platform;
  const deploying = await deployingNow(platform);
  await setDeploymentState(client, { status: 'deploying', ...deploying });
  log.info('applying essential manifests');
  await takingNothing(() => deployEssential(platform, { force: false }));
  log.info('applying custom resource definitions');
  await applyCrds(platform);
  log.info('installing stage=prep');
  await takingNothing(() => helmfile.sync({ selectors: ['stage=prep'], signal }));
  log.info('installing app=core');
  await takingNothing(() => helmfile.sync({ selectors: ['app=core'], signal }));
  const credentials = commitCredentials(await layers.values('all'));
  if (!credentials) {
    throw new OperatorError(
      'NoGitPassword',
      'apps.gitea.adminPassword is not set, so nobody could push the values; give it in VALUES_INPUT, or an x-secret rule in the schema',
    );
  }
  log.info('committing the values');
  const copy = platform.repository(credentials);
  const pushed = await copy.exclusive(() => commit(platform, copy, true));
  if (pushed === 'conflict') {
    throw new OperatorError(
      'PushedMeanwhile',
      'somebody else pushed to the values repository meanwhile; the next attempt begins with what they pushed',
    );
  }
  await initialSetupData(platform);
  await setDeploymentState(client, {
    status: 'deployed',
    tag: deploying.deployingTag,
    version: deploying.deployingVersion,
  });
}
