import { defineCommand } from '@slipway/kube/command';

import { installRelease } from '../release/install.ts';
import { chartFlags, readChart, releaseArguments } from './chart-flags.ts';
import { helmsOwnApplying } from './helm-flags.ts';
import { applyFlags, explained, readLabels, releaseContext } from './release-flags.ts';
import { releaseText } from './release-text.ts';
import { valueFlags } from './value-flags.ts';

/** `slipway chart install`. */
export const installCommand = defineCommand({
  connection: true,
  arguments: releaseArguments,
  flags: {
    ...valueFlags,
    ...chartFlags,
    ...applyFlags,
    replace: { type: 'boolean', summary: 'use the name of a release that failed or was uninstalled' },
  },
  knownElsewhere: helmsOwnApplying,
  examples: [{ line: 'slipway chart install shop ./charts/web -f prod.yaml --wait' }],
  async run({ terminal, args, flags, connect }) {
    const [name, path] = args as [string, string];
    const release = await explained(async () => {
      const { chart, values } = await readChart(path, flags, terminal);
      await using cluster = await connect();
      return await installRelease(releaseContext(terminal, cluster), chart, {
        name,
        namespace: flags.namespace ?? cluster.namespace,
        values,
        ...applyOptions(flags),
        replace: flags.replace,
      });
    });
    terminal.out(releaseText(release, '', flags.output));
  },
});

interface GivenFlags {
  readonly timeout: number | undefined;
  readonly 'no-hooks': boolean;
  readonly wait: boolean;
  readonly 'rollback-on-failure': boolean;
  readonly atomic: boolean;
  readonly 'force-conflicts': boolean;
  readonly 'take-ownership': boolean;
  readonly 'create-namespace': boolean;
  readonly 'skip-crds': boolean;
  readonly 'skip-schema-validation': boolean;
  readonly description: string | undefined;
  readonly labels: readonly string[];
}

/** The flags of `install` and `upgrade` as options. */
export function applyOptions(flags: GivenFlags) {
  return {
    timeoutMs: flags.timeout,
    skipHooks: flags['no-hooks'],
    wait: flags.wait,
    rollbackOnFailure: flags['rollback-on-failure'] || flags.atomic,
    forceConflicts: flags['force-conflicts'],
    takeOwnership: flags['take-ownership'],
    createNamespace: flags['create-namespace'],
    skipCrds: flags['skip-crds'],
    skipSchemaValidation: flags['skip-schema-validation'],
    description: flags.description,
    labels: readLabels(flags.labels),
  };
}
