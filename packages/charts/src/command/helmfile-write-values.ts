import { defineCommand } from '@slipway/kube/command';

import { textToBytes } from '../go/bytes.ts';
import { outputFile } from '../helmfile/output-file.ts';
import { writeYaml } from '../yaml/write.ts';
import { helmfileFlags, loadFromFlags } from './helmfile-flags.ts';
import { helmfilesOwnBuilding } from './helmfile-own-flags.ts';
import { explained } from './release-flags.ts';
import { writeBelow } from './written-file.ts';

/** `slipway helmfile write-values`. */
export const helmfileWriteValuesCommand = defineCommand({
  flags: {
    ...helmfileFlags,
    'output-file-template': {
      type: 'string',
      value: 'template',
      summary:
        'where each file goes, made of .Release, .State and .Environment; else beside the state, in a folder of its name',
    },
  },
  knownElsewhere: helmfilesOwnBuilding,
  examples: [
    {
      line: "slipway helmfile write-values --output-file-template 'values/{{ .Release.Namespace }}-{{ .Release.Name }}.yaml'",
    },
  ],
  async run({ terminal, flags }) {
    await explained(async () => {
      await using helmfile = await loadFromFlags(terminal, flags);
      for (const release of helmfile.releases) {
        if (!release.installed || !release.enabled) continue;
        const file = outputFile(release, terminal.cwd, flags['output-file-template']);
        terminal.err(`writing ${file}\n`);
        const text = writeYaml(helmfile.valuesOf(release), { dialect: 'v3' });
        // They may hold secrets: only their owner reads them.
        await writeBelow(file, textToBytes(text), { mode: 0o600 });
      }
    });
  },
});
