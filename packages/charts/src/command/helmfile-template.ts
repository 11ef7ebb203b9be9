import { defineCommand } from '@slipway/kube/command';

import { templateOutput } from '../render/template-output.ts';
import { helmfileFlags, loadFromFlags, needsFlags, needsPolicy } from './helmfile-flags.ts';
import { helmfilesOwnTemplating } from './helmfile-own-flags.ts';
import { explained } from './release-flags.ts';

/** `slipway helmfile template`. */
export const helmfileTemplateCommand = defineCommand({
  flags: {
    ...helmfileFlags,
    ...needsFlags,
    'include-crds': { type: 'boolean', summary: 'print the files under crds/, too' },
    'skip-tests': { type: 'boolean', summary: 'leave out hooks that are tests' },
    'no-hooks': { type: 'boolean', summary: 'leave out all hooks' },
    'show-only': {
      type: 'string',
      repeated: true,
      value: 'template',
      summary: 'only what comes from this template of the charts',
      perCall: true,
    },
    'kube-version': { type: 'string', value: 'version', summary: 'the Kubernetes version templates see' },
  },
  knownElsewhere: helmfilesOwnTemplating,
  examples: [{ line: 'slipway helmfile template -l app=core --include-crds' }],
  async run({ terminal, flags }) {
    await explained(async () => {
      await using helmfile = await loadFromFlags(terminal, flags);
      const kubeVersion = flags['kube-version'];
      for (const release of helmfile.plan(needsPolicy(flags))) {
        if (!release.installed) continue;
        const rendered = await helmfile.renderRelease(release, {
          ...(kubeVersion === undefined ? {} : { capabilities: { kubeVersion } }),
          clock: terminal.clock,
          random: terminal.random,
        });
        const text = templateOutput(rendered, {
          includeCrds: flags['include-crds'],
          skipTests: flags['skip-tests'],
          hooks: !flags['no-hooks'],
          showOnly: flags['show-only'] ?? [],
        });
        terminal.out(`${text}\n`);
      }
    });
  },
});
