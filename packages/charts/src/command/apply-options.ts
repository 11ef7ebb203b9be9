import { CommandError, exitCodes, type FlagValues } from '@slipway/kube/command';

import { type applyFlags, readLabels } from './release-flags.ts';

/** The flags of `install` and `upgrade` as options. */
export function applyOptions(flags: FlagValues<typeof applyFlags>) {
  if (flags['hide-secret'] && flags['dry-run'] === 'none')
    throw new CommandError('--hide-secret belongs to --dry-run', { exitCode: exitCodes.usage });
  return {
    timeoutMs: flags.timeout,
    skipHooks: flags['no-hooks'],
    wait: flags.wait,
    waitForJobs: flags['wait-for-jobs'],
    rollbackOnFailure: flags['rollback-on-failure'] || flags.atomic,
    forceConflicts: flags['force-conflicts'],
    takeOwnership: flags['take-ownership'],
    createNamespace: flags['create-namespace'],
    skipCrds: flags['skip-crds'],
    skipSchemaValidation: flags['skip-schema-validation'],
    description: flags.description,
    labels: readLabels(flags.labels),
    subNotes: flags['render-subchart-notes'],
    hideSecret: flags['hide-secret'],
  };
}
