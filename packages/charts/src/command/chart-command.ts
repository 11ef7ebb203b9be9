import { defineCommand } from '@slipway/kube/command';

import { helmsOwnCommands } from './commands-elsewhere.ts';

/** `slipway chart`. */
export const command = defineCommand({
  subcommands: {
    template: {
      summary: 'render a chart and print its manifests',
      command: async () => (await import('./template.ts')).templateCommand,
    },
    install: {
      summary: 'install a chart as a new release',
      command: async () => (await import('./install.ts')).installCommand,
    },
    upgrade: {
      summary: 'upgrade a release to another chart or other values',
      command: async () => (await import('./upgrade.ts')).upgradeCommand,
    },
    diff: {
      summary: 'show what an upgrade would change',
      command: async () => (await import('./diff.ts')).diffCommand,
    },
    rollback: {
      summary: 'make an older revision of a release the newest',
      command: async () => (await import('./rollback.ts')).rollbackCommand,
    },
    uninstall: {
      summary: 'remove releases and their objects',
      command: async () => (await import('./uninstall.ts')).uninstallCommand,
    },
    status: {
      summary: 'show how a release and its objects are',
      command: async () => (await import('./status.ts')).statusCommand,
    },
    get: {
      summary: 'print what is recorded of a release',
      command: async () => (await import('./get.ts')).getCommand,
    },
    test: {
      summary: 'run the tests of a release',
      command: async () => (await import('./test-release.ts')).testCommand,
    },
    list: { summary: 'list releases', command: async () => (await import('./list.ts')).listCommand },
    show: {
      summary: 'print what is in a chart',
      command: async () => (await import('./show.ts')).showCommand,
    },
    lint: {
      summary: 'look for mistakes in charts',
      command: async () => (await import('./lint.ts')).lintCommand,
    },
    package: {
      summary: 'pack charts into archives',
      command: async () => (await import('./package.ts')).packageCommand,
    },
    pull: {
      summary: 'fetch a chart from a repository or a registry',
      command: async () => (await import('./pull.ts')).pullCommand,
    },
    dependency: {
      summary: 'the charts a chart depends on',
      command: async () => (await import('./dependency.ts')).dependencyCommand,
    },
    history: {
      summary: 'list the revisions of a release',
      command: async () => (await import('./history.ts')).historyCommand,
    },
  },
  knownElsewhere: helmsOwnCommands,
  examples: [
    { line: 'slipway chart template shop ./charts/web --set replicas=3' },
    { line: 'slipway chart upgrade --install shop ./charts/web' },
  ],
});
