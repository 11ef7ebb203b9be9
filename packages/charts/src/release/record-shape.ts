import { isRecord } from '@slipway/kube';

/** What a value of a record has to be, as its fields in Go are: anything may be null or left out. */
type Shape = (value: unknown) => boolean;

const text: Shape = (value) => typeof value === 'string';
const whole: Shape = (value) => Number.isSafeInteger(value);
const map: Shape = isRecord;
const listOf =
  (item: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(item);
const withFields =
  (fields: Readonly<Record<string, Shape>>): Shape =>
  (value) =>
    isRecord(value) &&
    Object.entries(fields).every(([field, shape]) => (value[field] ?? null) === null || shape(value[field]));
const textsAt = (...fields: readonly string[]): Readonly<Record<string, Shape>> =>
  Object.fromEntries(fields.map((field) => [field, text]));

const hook = withFields({
  ...textsAt('name', 'kind', 'path', 'manifest'),
  events: listOf(text),
  weight: whole,
  delete_policies: listOf(text),
  output_log_policies: listOf(text),
  last_run: withFields(textsAt('started_at', 'completed_at', 'phase')),
});

const chart = withFields({
  metadata: withFields({
    ...textsAt('name', 'version', 'appVersion'),
    annotations: map,
    dependencies: listOf(withFields(textsAt('name', 'version', 'repository', 'alias'))),
  }),
  values: map,
  templates: listOf(map),
  files: listOf(map),
});

/** Whether a record can be worked with. One of another shape no helm could have written, nor read. */
export const hasRecordShape: Shape = withFields({
  ...textsAt('name', 'namespace', 'manifest', 'apply_method'),
  version: whole,
  config: map,
  hooks: listOf(hook),
  info: withFields({
    ...textsAt('first_deployed', 'last_deployed', 'deleted', 'description', 'status', 'notes'),
    rollback_revision: whole,
  }),
  chart,
});
