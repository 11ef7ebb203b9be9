import { styled, type Terminal } from '@slipway/kube/command';

import type { ReleaseChange } from '../release/difference.ts';

/** As helm-diff, helmfile and diff have it: differences are no failure, but not nothing either. */
export const changedExitCode = 2;

export const exitCodeFlag = {
  'detailed-exitcode': {
    type: 'boolean',
    summary: `end with code ${changedExitCode} when something would change, or was changed`,
  },
} as const;

/** What would change in a release, as a person reads it. */
export function changeText(terminal: Terminal, release: string, { action, objects }: ReleaseChange): string {
  const colours = { '-': 'red', '+': 'green' } as const;
  const changes = objects.map(({ object, change, lines }) => {
    const body = lines.map(({ sign, text }) =>
      sign === ' ' ? `  ${text}` : styled(terminal, colours[sign], `${sign} ${text}`),
    );
    return [`${object} ${change}:`, ...body].join('\n');
  });
  // A release that failed is tried again.
  if (action === 'upgrade' && changes.length === 0)
    changes.push('the last revision did not succeed; no object differs from what was deployed before it');
  return `${[styled(terminal, 'bold', `${action} ${release}`), ...changes].join('\n')}\n`;
}
