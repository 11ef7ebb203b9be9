import { Conditions, defineKind, Type, type ObjectOf } from '@slipway/kube';

import { names } from './names.ts';

const anyObject = Type.Object(
  {
    apiVersion: Type.String({ minLength: 1 }),
    kind: Type.String({ minLength: 1 }),
    metadata: Type.Object({}, { 'x-kubernetes-preserve-unknown-fields': true }),
  },
  { 'x-kubernetes-preserve-unknown-fields': true, description: 'A Kubernetes object.' },
);

const liveRef = Type.Object(
  {
    group: Type.String(),
    version: Type.String(),
    resource: Type.String(),
    kind: Type.String(),
    namespace: Type.String(),
    name: Type.String({ minLength: 1 }),
  },
  {
    description:
      'A member of the set. Group and kind identify its resource; version and resource are an older form of the same.',
  },
);

/** The members of a set never change: its name is made of them, and what they own was decided when it was made. */
const setSpec = Type.Object(
  { live: Type.Optional(Type.Array(liveRef, { 'x-kubernetes-list-type': 'atomic' })) },
  {
    'x-kubernetes-validations': [
      {
        rule: 'has(self.live) == has(oldSelf.live) && (!has(self.live) || self.live == oldSelf.live)',
        message: 'spec.live is immutable; make another set',
      },
    ],
  },
);

/** A question to an object: a CEL expression, or the value of a field. */
const healthTest = Type.Object({
  expression: Type.Optional(
    Type.String({ description: 'CEL over `object`, such as object.status.phase == "Running".' }),
  ),
  path: Type.Optional(Type.String({ description: 'A field, such as .status.phase, instead of an expression.' })),
  equals: Type.Optional(
    Type.String({ description: 'The value the field must have, as text. Default: any value but null.' }),
  ),
});

const healthText = Type.Object({
  expression: Type.Optional(Type.String({ description: 'CEL that gives the text.' })),
  path: Type.Optional(Type.String({ description: 'The field that holds the text.' })),
});

const memberResult = Type.Object({
  object: Type.String({ description: 'Kind.group namespace/name.' }),
  result: Type.String(),
  health: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
});

const readyColumns = [
  { name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', path: '.status.conditions[?(@.type=="Ready")].reason' },
];

/** A manifest as an object: what is in it is on the cluster, what leaves it is pruned once the new set is ready. */
export const Operand = defineKind({
  group: names.group,
  version: 'v1alpha1',
  kind: 'Operand',
  scope: 'Cluster',
  shortNames: ['op', 'ops'],
  categories: ['all', 'knative'],
  spec: Type.Object({
    steadyState: Type.Optional(
      Type.Array(anyObject, { 'x-kubernetes-list-type': 'atomic', description: 'The manifest.' }),
    ),
    postInstall: Type.Optional(
      Type.Array(anyObject, {
        'x-kubernetes-list-type': 'atomic',
        description: 'Applied once the manifest is ready; replaces objects of the same identity in it.',
      }),
    ),
    steadyStateFrom: Type.Optional(
      Type.Array(
        Type.Object({
          kind: Type.Union([Type.Literal('ConfigMap'), Type.Literal('Secret')]),
          namespace: Type.String({ minLength: 1 }),
          name: Type.String({ minLength: 1 }),
          key: Type.Optional(Type.String({ description: 'One key. Default: all keys, in order of their names.' })),
        }),
        {
          'x-kubernetes-list-type': 'atomic',
          description: 'More of the manifest, for what is too large or too secret for this object.',
        },
      ),
    ),
    serviceAccountName: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
        description:
          'The ServiceAccount as which everything is done for this Operand: reading sources, applying, pruning, deleting. Default: the operator itself, or what it is told to use.',
      }),
    ),
    serviceAccountNamespace: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        description: 'The namespace of serviceAccountName; required with it.',
      }),
    ),
    checkDeploymentHealth: Type.Boolean({
      default: false,
      description: 'Wait until what was applied is healthy, not only until it exists.',
    }),
    healthRules: Type.Optional(
      Type.Array(
        Type.Object({
          group: Type.Optional(Type.String({ description: 'Default: the core group.' })),
          kind: Type.String({ minLength: 1 }),
          current: healthTest,
          failed: Type.Optional(healthTest),
          message: Type.Optional(healthText),
        }),
        {
          'x-kubernetes-list-type': 'atomic',
          description: 'When members of a kind are healthy, where its own conditions do not say so.',
        },
      ),
    ),
    prunePolicy: Type.Optional(
      Type.Union([Type.Literal('Foreground'), Type.Literal('Background'), Type.Literal('Orphan')], {
        description: 'How objects that left the set go. Default Foreground; Orphan leaves them.',
      }),
    ),
    maxPrunePercent: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'Refuse to prune more of the set than this. Default 100.',
      }),
    ),
    allowEmpty: Type.Optional(
      Type.Boolean({
        description:
          'Let a manifest that has become empty prune everything. Default false: an empty manifest is more often a mistake than a wish.',
      }),
    ),
    deletionPolicy: Type.Optional(
      Type.Union([Type.Literal('Delete'), Type.Literal('Orphan')], {
        description: 'What happens to the objects when the Operand is deleted. Default Delete.',
      }),
    ),
    adoptionPolicy: Type.Optional(
      Type.Union([Type.Literal('MustMatch'), Type.Literal('AdoptIfUnowned'), Type.Literal('AdoptAll')], {
        description: 'Which existing objects may become members. Default AdoptIfUnowned.',
      }),
    ),
    onFailure: Type.Optional(
      Type.Union([Type.Literal('Hold'), Type.Literal('Rollback')], {
        description: 'Rollback goes back to the last ready manifest. Default Hold.',
      }),
    ),
    progressDeadlineSeconds: Type.Optional(
      Type.Integer({ minimum: 1, description: 'An install that takes longer has failed. Default: no limit.' }),
    ),
    mode: Type.Optional(
      Type.Union([Type.Literal('Apply'), Type.Literal('Plan')], {
        description: 'Plan only shows in status what Apply would do. Default Apply.',
      }),
    ),
  }),
  status: Type.Object({
    observedGeneration: Type.Optional(Type.Integer()),
    latestReadyActiveOperand: Type.Optional(Type.String()),
    latestCreatedActiveOperand: Type.Optional(Type.String()),
    latestInstalledSteadyStateGeneration: Type.Optional(Type.Integer()),
    carryOver: Type.Optional(
      Type.Array(liveRef, {
        'x-kubernetes-list-type': 'atomic',
        description:
          'Members of sets that made way before they were ready. What is not wanted is pruned at the promotion.',
      }),
    ),
    carryOverPacked: Type.Optional(
      Type.String({ description: 'The same where they are too many to list: gzip, then base64, of a JSON list.' }),
    ),
    sourcesHash: Type.Optional(Type.String()),
    installStartedAt: Type.Optional(Type.String({ format: 'date-time' })),
    rolledBackGeneration: Type.Optional(Type.Integer()),
    rolledBackReason: Type.Optional(Type.String()),
    counts: Type.Optional(Type.Record(Type.String(), Type.Integer())),
    members: Type.Optional(Type.Array(memberResult, { 'x-kubernetes-list-type': 'atomic', maxItems: 50 })),
    plan: Type.Optional(Type.Array(Type.String(), { 'x-kubernetes-list-type': 'atomic', maxItems: 100 })),
    annotations: Type.Optional(Type.Record(Type.String(), Type.String())),
    conditions: Type.Optional(Conditions),
  }),
  columns: [
    ...readyColumns,
    { name: 'Members', type: 'integer', path: '.status.counts.total', priority: 1 },
    { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
  ],
});
export type Operand = ObjectOf<typeof Operand>;

/** One set of members, by identity: owns every object in it. */
export const ClusterActiveOperand = defineKind({
  group: names.group,
  version: 'v1alpha1',
  kind: 'ClusterActiveOperand',
  scope: 'Cluster',
  shortNames: ['cao', 'caos'],
  categories: ['all', 'knative'],
  spec: setSpec,
  status: Type.Object({
    observedGeneration: Type.Optional(Type.Integer()),
    delegates: Type.Optional(
      Type.Array(Type.Object({ namespace: Type.String() }), { 'x-kubernetes-list-type': 'atomic' }),
    ),
    // The capital letter is what the original writes and what its readers read.
    ClusterLive: Type.Optional(Type.Array(liveRef, { 'x-kubernetes-list-type': 'atomic' })),
    lastReadyManifest: Type.Optional(
      Type.Object({
        generation: Type.Integer(),
        encoding: Type.String(),
        data: Type.String({
          description:
            'The manifest that was last ready with this set, for rolling back. Without Secrets and what came from sources.',
        }),
        sourcesHash: Type.Optional(Type.String()),
        secrets: Type.Optional(
          Type.Array(
            Type.Object({
              namespace: Type.String(),
              name: Type.String(),
              sha256: Type.Optional(
                Type.String({ description: 'Of the content. A Secret with another content is never applied.' }),
              ),
            }),
            {
              'x-kubernetes-list-type': 'atomic',
              description: 'Where Secrets and what came from sources are kept, piece by piece.',
            },
          ),
        ),
      }),
    ),
    conditions: Type.Optional(Conditions),
  }),
  columns: [...readyColumns, { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' }],
});
export type ClusterActiveOperand = ObjectOf<typeof ClusterActiveOperand>;

/** The members of a set in one namespace. */
export const ActiveOperand = defineKind({
  group: names.group,
  version: 'v1alpha1',
  kind: 'ActiveOperand',
  scope: 'Namespaced',
  shortNames: ['ao', 'aos'],
  categories: ['all', 'knative'],
  spec: setSpec,
  status: Type.Object({
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
  }),
  columns: [...readyColumns, { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' }],
});
export type ActiveOperand = ObjectOf<typeof ActiveOperand>;
