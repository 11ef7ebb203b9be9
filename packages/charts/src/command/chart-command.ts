import { defineCommand } from '@slipway/kube';

import { dependencyCommand } from './dependency.ts';
import { diffCommand } from './diff.ts';
import { historyCommand } from './history.ts';
import { installCommand } from './install.ts';
import { listCommand } from './list.ts';
import { pullCommand } from './pull.ts';
import { rollbackCommand } from './rollback.ts';
import { templateCommand } from './template.ts';
import { uninstallCommand } from './uninstall.ts';
import { upgradeCommand } from './upgrade.ts';

/** `slipway chart`. */
export const command = defineCommand({
  subcommands: {
    template: { summary: 'render a chart and print its manifests', command: templateCommand },
    install: { summary: 'install a chart as a new release', command: installCommand },
    upgrade: { summary: 'upgrade a release to another chart or other values', command: upgradeCommand },
    diff: { summary: 'show what an upgrade would change', command: diffCommand },
    rollback: { summary: 'make an older revision of a release the newest', command: rollbackCommand },
    uninstall: { summary: 'remove releases and their objects', command: uninstallCommand },
    list: { summary: 'list releases', command: listCommand },
    pull: { summary: 'fetch a chart from a repository or a registry', command: pullCommand },
    dependency: { summary: 'the charts a chart depends on', command: dependencyCommand },
    history: { summary: 'list the revisions of a release', command: historyCommand },
  },
  examples: [
    { line: 'slipway chart template shop ./charts/web --set replicas=3' },
    { line: 'slipway chart upgrade --install shop ./charts/web' },
  ],
});
