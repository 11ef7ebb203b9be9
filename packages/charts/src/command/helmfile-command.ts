import { defineCommand } from '@slipway/kube';

import { helmfileApplyCommand } from './helmfile-apply.ts';
import { helmfileBuildCommand } from './helmfile-build.ts';
import { helmfileDestroyCommand } from './helmfile-destroy.ts';
import { helmfileDiffCommand } from './helmfile-diff.ts';
import { helmfileListCommand } from './helmfile-list.ts';
import { helmfileSyncCommand } from './helmfile-sync.ts';
import { helmfileTemplateCommand } from './helmfile-template.ts';
import { helmfileWriteValuesCommand } from './helmfile-write-values.ts';

/** `slipway helmfile`. */
export const command = defineCommand({
  subcommands: {
    list: { summary: 'list the releases of a helmfile', command: helmfileListCommand },
    build: { summary: 'print its states with everything evaluated', command: helmfileBuildCommand },
    'write-values': { summary: 'write the values of every release to a file', command: helmfileWriteValuesCommand },
    template: { summary: 'render every release and print the manifests', command: helmfileTemplateCommand },
    diff: { summary: 'show what sync would change', command: helmfileDiffCommand },
    sync: { summary: 'install, upgrade and remove releases as it says', command: helmfileSyncCommand },
    apply: { summary: 'the same for releases that differ', command: helmfileApplyCommand },
    destroy: { summary: 'remove every release', command: helmfileDestroyCommand },
  },
  examples: [{ line: 'slipway helmfile list -f helmfile.d' }, { line: 'slipway helmfile diff -l name=shop' }],
});
