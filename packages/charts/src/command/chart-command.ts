import { defineCommand } from '@slipway/kube/command';

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
    list: { summary: 'list releases', command: async () => (await import('./list.ts')).listCommand },
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
  examples: [
    { line: 'slipway chart template shop ./charts/web --set replicas=3' },
    { line: 'slipway chart upgrade --install shop ./charts/web' },
  ],
});
