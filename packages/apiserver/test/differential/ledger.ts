import type { Difference } from './compare.ts';

/** A difference that is known and accepted. */
export interface LedgerEntry {
  readonly case: string;
  readonly step: string;
  /** The path that differs, or one above it. */
  readonly path: string;
  readonly reason: string;
}

const yamlParser = 'The text is that of the YAML parser; ours is another one. Code and reason are the same.';
const goPrints =
  'The real server prints its own Go structure or a diff of two of them here. Code, reason and field are the same.';

/** The message of a Status stands in it twice. */
function message(name: string, step: string, reason: string): LedgerEntry[] {
  return ['body.message', 'body.details.causes.0.message'].map((path) => ({ case: name, step, path, reason }));
}

export const ledger: readonly LedgerEntry[] = [
  ...['{<<: {a: 1, b: 1}, b: 2}', '{b: 2, <<: {b: 3}}', '{<<: [{a: 1}, {a: 2, c: 3}]}', '{a: 1, a: 2}'].map((step) => ({
    case: 'YAML values',
    step,
    path: 'headers.warning',
    reason:
      'The real server also warns of a key that a merge covers, and has another text before the line. What is read is the same.',
  })),
  { case: 'content types of bodies', step: 'yaml with an error', path: 'body.message', reason: yamlParser },
  { case: 'apply that is refused', step: 'no YAML', path: 'body.message', reason: yamlParser },
  {
    case: 'formats of answers',
    step: 'protobuf preferred',
    path: 'headers.content-type',
    reason: 'We answer in JSON and YAML only. Clients that prefer protobuf offer JSON too, and read what they get.',
  },
  {
    case: 'the server itself',
    step: 'openapi index',
    path: 'body',
    reason:
      'The real server also has documents for groups without a version (`apis/apps`), which describe discovery alone. No client reads them, so they are not made.',
  },
  ...message(
    'merge patch',
    'other kind',
    'The real server reads the result as the other kind and complains about whatever does not fit first. We say that the kind changed. Code, reason and field are the same.',
  ),
  ...message('strategic merge patch', 'wrong type', goPrints),
  ...message('strategic merge patch', 'list for a map', goPrints),
  ...message('Pod changes and life', 'most of the spec is immutable', goPrints),
  ...message('Pod changes and life', 'another priority', goPrints),
  ...message('claims and volumes', 'spec is immutable', goPrints),
  {
    case: 'StatefulSet, DaemonSet, ReplicaSet',
    step: 'table of DaemonSets',
    path: 'body.rows.0.object.metadata.annotations',
    reason:
      'The real server adds this annotation when it prints a DaemonSet and forgets it in tables; we store it. Its value is the same wherever both have it.',
  },
  {
    case: 'budgets and autoscalers',
    step: 'priority classes',
    path: 'body.description',
    reason: 'The description of a built-in priority class is prose for people; ours is our own.',
  },
  ...['HorizontalPodAutoscaler', 'ResourceQuota', 'LimitRange'].map((step) => ({
    case: 'budgets and autoscalers',
    step,
    path: 'headers.warning',
    reason: 'Nothing acts on this kind here, and we say so; on a real cluster something does.',
  })),
  {
    case: 'defaults, pruning and unknown fields of custom resources',
    step: 'protobuf',
    path: 'headers.content-type',
    reason: 'We answer in JSON and YAML only; the refusal is therefore JSON and not protobuf.',
  },
  {
    case: 'defaults, pruning and unknown fields of custom resources',
    step: 'protobuf',
    path: 'body',
    reason: 'The same Status, encoded as JSON and not as protobuf.',
  },
  {
    case: 'invalid custom resources',
    step: 'another version',
    path: 'headers.warning',
    reason:
      'The real server warns of `spec` as unknown before it refuses an object of a version that does not exist. The refusal is the same.',
  },
  ...['patch as v2', 'patched as v1', 'apply as v2'].map((step) => ({
    case: 'conversion webhook',
    step,
    path:
      step === 'apply as v2'
        ? 'body.metadata.managedFields.1.fieldsV1.f:spec'
        : 'body.metadata.managedFields.0.fieldsV1.f:spec',
    reason:
      'The real server converts the object into the version of every manager to see what each of them lost. We compare within the version of the request: who wrote the field in the other version goes on to own it.',
  })),
  ...message(
    'validating policy',
    'expression that does not compile',
    'The words after "Syntax error" are those of the CEL parser; ours is another one. Position and frame are the same.',
  ),
];

export function isAccepted(entry: LedgerEntry, difference: Difference): boolean {
  return (
    entry.case === difference.case &&
    entry.step === difference.step &&
    (difference.path === entry.path || difference.path.startsWith(`${entry.path}.`))
  );
}
