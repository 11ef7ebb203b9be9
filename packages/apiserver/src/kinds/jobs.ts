import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { scheduleProblem } from './cron-schedule.ts';
import { invalidValue, notSupported, required, tooLong } from './field-errors.ts';
import { asObject, asText, defaultText, defaultTo, dig, ensureObject } from './json-access.ts';
import { immutable, nonNegative } from './limits.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { validatePodTemplate } from './pod-spec-validation.ts';
import { selectorMatches, validateSelector } from './selectors.ts';
import { withStatus } from './with-status.ts';
import { cronJobCells, jobCells } from './workload-cells.ts';

function specOf(object: ApiObject): JsonObject {
  return ensureObject(object as unknown as JsonObject, 'spec');
}

function defaultJob(object: ApiObject): void {
  const spec = specOf(object);
  if (spec['completions'] == null && spec['parallelism'] == null) spec['completions'] = 1;
  defaultTo(spec, 'parallelism', 1);
  defaultTo(spec, 'backoffLimit', spec['backoffLimitPerIndex'] == null ? 6 : 2 ** 31 - 1);
  defaultPodTemplate(spec);
  const labels = asObject(dig(spec, 'template', 'metadata', 'labels'));
  if (labels && !object.metadata.labels) object.metadata.labels = { ...labels } as Record<string, string>;
  defaultText(spec, 'completionMode', 'NonIndexed');
  defaultTo(spec, 'suspend', false);
  defaultTo(spec, 'manualSelector', false);
  defaultText(spec, 'podReplacementPolicy', spec['podFailurePolicy'] == null ? 'TerminatingOrFailed' : 'Failed');
}

/** Pods are found by the uid of their job unless the user insists on an own selector. */
function selectByUid(object: ApiObject): void {
  const spec = specOf(object);
  if (spec['manualSelector'] === true) return;
  const uid = object.metadata.uid ?? '';
  const name = object.metadata.name ?? '';
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const template = ensureObject(spec, 'template');
  const metadata = ensureObject(template, 'metadata');
  metadata['labels'] = { ...asObject(metadata['labels']), ...labels };
  const selector = ensureObject(spec, 'selector');
  selector['matchLabels'] = { ...asObject(selector['matchLabels']), 'batch.kubernetes.io/controller-uid': uid };
  object.metadata.labels = { ...object.metadata.labels, ...labels };
}

function validateJobSpec(spec: JsonObject, field: string): FieldError[] {
  const errors = nonNegative(spec, field, [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ]);
  const mode = asText(spec['completionMode']);
  if (mode && !['NonIndexed', 'Indexed'].includes(mode)) {
    errors.push(notSupported(`${field}.completionMode`, mode, ['NonIndexed', 'Indexed']));
  }
  if (mode === 'Indexed' && spec['completions'] == null) {
    errors.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  }
  errors.push(...validatePodTemplate(spec['template'], `${field}.template`));
  const policy = asText(dig(spec, 'template', 'spec', 'restartPolicy'));
  const at = `${field}.template.spec.restartPolicy`;
  // `Always` is what a template says that says nothing.
  if (policy === '' || policy === 'Always') errors.push(required(at, 'valid values: "OnFailure", "Never"'));
  else if (policy !== 'OnFailure' && policy !== 'Never') {
    errors.push(notSupported(at, policy, ['OnFailure', 'Never']));
  }
  return errors;
}

function validateJob(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors = validateJobSpec(spec, 'spec');
  if (spec['selector'] == null) errors.push(required('spec.selector'));
  else errors.push(...validateSelector(spec['selector'], 'spec.selector'));
  const labels = asObject(dig(spec, 'template', 'metadata', 'labels')) ?? {};
  if (spec['selector'] != null && !selectorMatches(spec['selector'], labels)) {
    errors.push(invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  return errors;
}

const fixedJobFields = [
  'selector',
  'template',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];

export const jobStrategy: Strategy = withStatus({
  hasGeneration: true,
  defaultPropagation: 'Orphan',
  applyDefaults: defaultJob,
  prepareForCreate: selectByUid,
  validate: validateJob,
  validateUpdate: (object, previous) => {
    const spec = specOf(object);
    const before = specOf(previous);
    const suspended = before['suspend'] === true && dig(previous, 'status', 'startTime') === undefined;
    const completions = spec['completionMode'] === 'Indexed' ? [] : immutable(spec, before, 'spec', ['completions']);
    return [
      ...validateJob(object),
      ...completions,
      // A suspended job that never ran may still be told where to run.
      ...immutable(
        spec,
        before,
        'spec',
        fixedJobFields.filter((name) => name !== 'template' || !suspended),
      ),
    ];
  },
  selectableFields: { 'status.successful': (object) => String(dig(object, 'status', 'succeeded') ?? 0) },
  cells: jobCells,
});

function validateCronJob(object: ApiObject, previous: ApiObject | undefined): FieldError[] {
  const spec = specOf(object);
  const errors: FieldError[] = [];
  const schedule = asText(spec['schedule']);
  const zone = spec['timeZone'];
  if (!schedule) errors.push(required('spec.schedule'));
  else {
    const problem = scheduleProblem(schedule);
    if (problem) errors.push(invalidValue('spec.schedule', schedule, problem));
    const hadZone = asText(dig(previous, 'spec', 'schedule')).includes('TZ');
    if (schedule.includes('TZ') && !hadZone) {
      errors.push(
        invalidValue('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
      );
    }
  }
  errors.push(...nonNegative(spec, 'spec', ['startingDeadlineSeconds']));
  if (typeof zone === 'string') {
    if (zone === '') errors.push(invalidValue('spec.timeZone', zone, 'timeZone must be nil or non-empty string'));
    else if (!isTimeZone(zone)) errors.push(invalidValue('spec.timeZone', zone, `unknown time zone ${zone}`));
  }
  const concurrency = asText(spec['concurrencyPolicy']);
  if (!['Allow', 'Forbid', 'Replace'].includes(concurrency)) {
    errors.push(notSupported('spec.concurrencyPolicy', concurrency, ['Allow', 'Forbid', 'Replace']));
  }
  errors.push(...validateJobSpec(asObject(dig(spec, 'jobTemplate', 'spec')) ?? {}, 'spec.jobTemplate.spec'));
  errors.push(...nonNegative(spec, 'spec', ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit']));
  // Jobs get eleven characters appended to the name, and a pod's host name must still fit.
  if (!previous && (object.metadata.name ?? '').length > 52) errors.push(tooLong('metadata.name', 52));
  return errors;
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

export const cronJobStrategy: Strategy = withStatus({
  hasGeneration: true,
  applyDefaults(object) {
    const spec = specOf(object);
    defaultText(spec, 'concurrencyPolicy', 'Allow');
    defaultTo(spec, 'suspend', false);
    defaultTo(spec, 'successfulJobsHistoryLimit', 3);
    defaultTo(spec, 'failedJobsHistoryLimit', 1);
    const template = asObject(dig(spec, 'jobTemplate', 'spec'));
    if (template) defaultPodTemplate(template);
  },
  validate: (object) => validateCronJob(object, undefined),
  validateUpdate: validateCronJob,
  cells: cronJobCells,
});
