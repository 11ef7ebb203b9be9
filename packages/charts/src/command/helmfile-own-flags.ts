const ownValues = "values come from the state: write them there, or set the state's own with --state-values-set";
const noHelm = 'no helm is run that could be given arguments: say it in the state, or with a flag of this command';
const noFetch = 'nothing is updated before the work: leave it out';
const alwaysHidden = 'values of Secrets are never shown';
const noTrack = 'with --wait everything is waited for by the rules of kstatus, and told';
const noPrograms = 'no program is run on manifests';
const showsFirst = 'nothing asks back: slipway helmfile diff shows what would change';

/** Flags of helmfile's that no command of ours has, and what to do instead. */
const helmfilesOwn = {
  '--namespace': 'write namespace: into the state; it counts for all its releases',
  '-n': 'write namespace: into the state; it counts for all its releases',
  '--chart': 'write the chart into the release',
  '-c': 'write the chart into the release',
  '--helm-binary': 'helm is built in',
  '-b': 'helm is built in',
  '--kustomize-binary': 'charts are rendered here, kustomizations are not',
  '-k': 'charts are rendered here, kustomizations are not',
  '--debug': '--verbose says more',
  '--log-level': '--verbose says more',
  '--interactive': showsFirst,
  '-i': showsFirst,
  '--skip-refresh': noFetch,
  '--quiet': 'progress goes to standard error: send it to /dev/null',
  '-q': 'progress goes to standard error: send it to /dev/null',
  '--color': 'a terminal gets colours, unless NO_COLOR is set',
  '--no-color': 'set NO_COLOR=1; files and pipes get no colours anyway',
  '--enable-live-output': 'progress is told as it happens: leave it out',
  '--disable-force-update': 'no repository is added anywhere: leave it out',
  '--args': noHelm,
  '--set': ownValues,
  '--values': ownValues,
} as const;

const planning = {
  '--enforce-needs-are-installed': 'needs are always checked against what the state defines',
  '--skip-cleanup': 'no temporary files are written: leave it out',
  '--template-args': noHelm,
  '--post-renderer': noPrograms,
  '--post-renderer-args': noPrograms,
} as const;

/** Of those that only read the state. */
export const helmfilesOwnBuilding = {
  ...helmfilesOwn,
  '--embed-values': 'slipway helmfile write-values writes the values of every release',
  '--skip-charts': 'charts are not read for this: leave it out',
  '--keep-temp-dir': 'no temporary files are written',
  '--concurrency': 'releases are worked on one after another: leave it out',
  '--kube-context': 'no cluster is asked: write kubeContext: into the state',
} as const;

/** Of the one that renders. */
export const helmfilesOwnTemplating = {
  ...helmfilesOwn,
  ...planning,
  '--concurrency': 'releases are rendered one after another: leave it out',
  '--kube-context': 'no cluster is asked: write kubeContext: into the state',
  '--validate': 'slipway helmfile diff asks the cluster',
  '--skip-schema-validation': 'write skipSchemaValidation: true into the release or helmDefaults',
} as const;

/** Of those that work on a cluster. */
export const helmfilesOwnWorking = {
  ...helmfilesOwn,
  ...planning,
  '--validate': 'the API server checks every object: leave it out',
  '--skip-schema-validation': 'write skipSchemaValidation: true into the release or helmDefaults',
  '--sync-args': noHelm,
  '--diff-args': noHelm,
  '--suppress-secrets': alwaysHidden,
  '--show-secrets': alwaysHidden,
  '--suppress': 'select releases with --selector',
  '--suppress-diff': 'slipway helmfile sync prints no differences',
  '--suppress-output-line-regex': 'the differences are printed whole',
  '--strip-trailing-cr': 'line ends count as they are',
  '--include-tests': 'hooks that are tests are no part of a difference',
  '--skip-diff-on-install': 'slipway helmfile sync prints no differences',
  '--skip-diff-validation-on-install': 'a difference is rendered, not validated: leave it out',
  '--reset-values': 'the last values count only with --reuse-values: leave it out',
  '--cascade': 'what belongs to a removed object is removed in the background',
  '--server-side': 'objects are always written by server-side apply',
  '--take-ownership': 'write takeOwnership: true into the release or helmDefaults',
  '--description': 'write description: into the release',
  '--sync-release-labels': 'labels of a release are not written to its record',
  '--hide-notes': 'notes are not printed: leave it out',
  '--track-mode': noTrack,
  '--track-timeout': noTrack,
  '--track-logs': noTrack,
  '--track-failed-logs': noTrack,
  '--track-fail-on-error': noTrack,
  '--helm-stuck-grace': noTrack,
  '--skip-charts': 'charts of what is removed are not read: leave it out',
} as const;
