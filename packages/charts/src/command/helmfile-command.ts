import { defineCommand } from '@slipway/kube';

import { helmfileBuildCommand } from './helmfile-build.ts';
import { helmfileListCommand } from './helmfile-list.ts';
import { helmfileTemplateCommand } from './helmfile-template.ts';
import { helmfileWriteValuesCommand } from './helmfile-write-values.ts';

/** `slipway helmfile`. */
export const command = defineCommand({
  subcommands: {
    list: { summary: 'list the releases of a helmfile', command: helmfileListCommand },
    build: { summary: 'print its states with everything evaluated', command: helmfileBuildCommand },
    'write-values': { summary: 'write the values of every release to a file', command: helmfileWriteValuesCommand },
    template: { summary: 'render every release and print the manifests', command: helmfileTemplateCommand },
  },
  examples: [{ line: 'slipway helmfile list -f helmfile.d' }, { line: 'slipway helmfile template -l name=shop' }],
});
