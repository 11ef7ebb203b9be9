import { isTree } from '../values/tree.ts';
import { argoApplications, waitUntilHealthy } from './applications.ts';
import { declaredUpgrades } from './declared-upgrades.ts';
import { deployEssential } from './deploy-essential.ts';
import type { Platform } from './platform.ts';
import { compareVersions } from './version.ts';
import type { DeploymentState } from '../state/deployment-state.ts';

export type UpgradeOperation = (platform: Platform) => Promise<void>;

/** What has to happen once on a running platform when it comes to a version. Operations may run again: they are idempotent. */
export interface RuntimeUpgrade {
  readonly version: string;
  readonly pre?: UpgradeOperation;
  readonly post?: UpgradeOperation;
  /** For single applications, after they are in sync and healthy; by a part of the name. */
  readonly applications?: Readonly<
    Record<string, { readonly pre?: UpgradeOperation; readonly post?: UpgradeOperation }>
  >;
}

/** Runs the operations between the version that is deployed and the one that is being deployed. */
export async function runtimeUpgrade(platform: Platform, when: 'pre' | 'post', state: DeploymentState): Promise<void> {
  const { version, deployingVersion } = state;
  // Without a version this is the first installation.
  if (!version || !deployingVersion || compareVersions(deployingVersion, version) <= 0) return;
  await deployEssential(platform, { selectors: ['upgrade=true'], force: true });
  const upgrades = [...platform.upgrades, ...(await declaredUpgrades(platform.root))];
  const due = upgrades.filter(
    (upgrade) =>
      compareVersions(upgrade.version, version) > 0 && compareVersions(upgrade.version, deployingVersion) <= 0,
  );
  for (const upgrade of due) {
    await upgrade[when]?.(platform);
    await upgradeApplications(platform, upgrade, when);
  }
}

/** One application that does not get well keeps neither the others nor the upgrade. */
async function upgradeApplications(platform: Platform, upgrade: RuntimeUpgrade, when: 'pre' | 'post'): Promise<void> {
  if (!isTree(upgrade.applications)) return;
  const present = await argoApplications(platform);
  const work = Object.entries(upgrade.applications).map(async ([part, operations]) => {
    const operation = operations[when];
    const name = present.find((application) => application.includes(part));
    if (!operation || name === undefined) return;
    await waitUntilHealthy(platform, name);
    await operation(platform);
  });
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === 'rejected')
      platform.log.warn('an upgrade of an application failed', { version: upgrade.version, error: outcome.reason });
  }
}
