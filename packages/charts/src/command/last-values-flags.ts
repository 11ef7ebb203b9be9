import { CommandError, exitCodes, type FlagValues } from '@slipway/kube/command';

import type { UpgradeOptions } from '../release/upgrade.ts';

/** What becomes of the values a release was installed with. */
export const lastValuesFlags = {
  'reset-values': { type: 'boolean', summary: 'only the values given now count' },
  'reuse-values': { type: 'boolean', summary: 'the last values count, with those given now over them' },
  'reset-then-reuse-values': { type: 'boolean', summary: "the same over the new chart's defaults" },
} as const;

export function valuesFrom(flags: FlagValues<typeof lastValuesFlags>): UpgradeOptions['valuesFrom'] {
  const chosen = (
    [
      ['reset-values', 'reset'],
      ['reuse-values', 'reuse'],
      ['reset-then-reuse-values', 'reset-then-reuse'],
    ] as const
  ).filter(([flag]) => flags[flag]);
  if (chosen.length > 1) {
    throw new CommandError(`only one of ${chosen.map(([flag]) => `--${flag}`).join(', ')} can be used`, {
      exitCode: exitCodes.usage,
    });
  }
  return chosen[0]?.[1];
}
