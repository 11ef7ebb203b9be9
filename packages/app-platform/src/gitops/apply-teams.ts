import { step } from '../operator-error.ts';
import { applyAsApps, teamSelector } from '../platform/applications.ts';
import { deployEssential } from '../platform/deploy-essential.ts';
import type { Platform } from '../platform/platform.ts';

/** Namespaces and accounts of the teams; fields others took are taken back. */
export async function applyTeams(platform: Platform): Promise<void> {
  await step('ApplyTeams operation failed', () => deployEssential(platform, { selectors: ['team=true'], force: true }));
}

/** The lightweight apply: nothing but the teams and their applications. */
export async function applyTeamsOnly(platform: Platform): Promise<void> {
  await applyTeams(platform);
  await step('ApplyAsApps for teams failed', () => applyAsApps(platform, [teamSelector]));
}
