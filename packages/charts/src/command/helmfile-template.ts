import { defineCommand } from '@slipway/kube/command';

import { naming } from '../helmfile/named-failure.ts';
import { outputFolder } from '../helmfile/output-file.ts';
import { defaultKubeVersion } from '../render/capabilities.ts';
import { templateOutput } from '../render/template-output.ts';
import { helmfileFlags, loadFromFlags, needsFlags, needsPolicy } from './helmfile-flags.ts';
import { helmfilesOwnTemplating } from './helmfile-own-flags.ts';
import { localTimeZone } from './local-time-zone.ts';
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
    'kube-version': {
      type: 'string',
      value: 'version',
      summary: `the Kubernetes version templates see; else that of the release, or ${defaultKubeVersion}`,
    },
    'output-dir': {
      type: 'string',
      value: 'folder',
      summary: 'write each template to a file of its own below this folder, in a folder for each release',
      perCall: true,
    },
    'output-dir-template': {
      type: 'string',
      value: 'template',
      summary:
        'the folder of each release, made of .OutputDir, .Release, .State and .Environment; else one of the name of its state and its own',
      perCall: true,
    },
  },
  knownElsewhere: helmfilesOwnTemplating,
  examples: [{ line: 'slipway helmfile template -l app=core --include-crds' }],
  async run({ terminal, flags }) {
    await explained(async () => {
      await using helmfile = await loadFromFlags(terminal, flags);
      const kubeVersion = flags['kube-version'];
      const folder = flags['output-dir'];
      const writing = folder === undefined ? undefined : await import('./output-dir.ts');
      for (const release of helmfile.plan(needsPolicy(flags))) {
        if (!release.installed) continue;
        const options = {
          ...(kubeVersion === undefined ? {} : { capabilities: { kubeVersion } }),
          clock: terminal.clock,
          random: terminal.random,
          timeZone: localTimeZone(terminal.env),
        };
        const rendered = await naming(release, async () => await helmfile.renderRelease(release, options));
        const parts = {
          includeCrds: flags['include-crds'],
          skipTests: flags['skip-tests'],
          hooks: !flags['no-hooks'],
        };
        if (writing) {
          const own = outputFolder(release, folder!, flags['output-dir-template']);
          await writing.writeOutput(terminal, own, rendered, { ...parts, releaseName: undefined });
          continue;
        }
        terminal.out(`${templateOutput(rendered, { ...parts, showOnly: flags['show-only'] ?? [] })}\n`);
      }
    });
  },
});
