import { defineCommand } from '@slipway/kube/command';

import { helmfilesOwnCommands } from './commands-elsewhere.ts';

/** `slipway helmfile`. */
export const command = defineCommand({
  subcommands: {
    list: {
      summary: 'list the releases of a helmfile',
      command: async () => (await import('./helmfile-list.ts')).helmfileListCommand,
    },
    build: {
      summary: 'print its states with everything evaluated',
      command: async () => (await import('./helmfile-build.ts')).helmfileBuildCommand,
    },
    'write-values': {
      summary: 'write the values of every release to a file',
      command: async () => (await import('./helmfile-write-values.ts')).helmfileWriteValuesCommand,
    },
    template: {
      summary: 'render every release and print the manifests',
      command: async () => (await import('./helmfile-template.ts')).helmfileTemplateCommand,
    },
    diff: {
      summary: 'show what sync would change',
      command: async () => (await import('./helmfile-diff.ts')).helmfileDiffCommand,
    },
    sync: {
      summary: 'install, upgrade and remove releases as it says',
      command: async () => (await import('./helmfile-sync.ts')).helmfileSyncCommand,
    },
    apply: {
      summary: 'the same for releases that differ',
      command: async () => (await import('./helmfile-apply.ts')).helmfileApplyCommand,
    },
    destroy: {
      summary: 'remove every release',
      command: async () => (await import('./helmfile-destroy.ts')).helmfileDestroyCommand,
    },
  },
  knownElsewhere: helmfilesOwnCommands,
  examples: [{ line: 'slipway helmfile list -f helmfile.d' }, { line: 'slipway helmfile diff -l name=shop' }],
});
