import { AnyFields, AnyValue, Type } from '@slipway/kube';

/** Fields we do not look at are nobody's mistake: Argo CD knows more than we do. */
const others = { 'x-kubernetes-preserve-unknown-fields': true };
const text = () => Type.Optional(Type.String());
const flag = () => Type.Optional(Type.Boolean());
const texts = () => Type.Optional(Type.Array(Type.String()));

const Parameter = Type.Object({ name: Type.String(), value: text(), forceString: flag() }, others);

export const HelmSource = Type.Object(
  {
    releaseName: text(),
    namespace: text(),
    values: text(),
    valuesObject: Type.Optional(AnyFields()),
    valueFiles: texts(),
    ignoreMissingValueFiles: flag(),
    parameters: Type.Optional(Type.Array(Parameter)),
    fileParameters: Type.Optional(Type.Array(Type.Object({ name: Type.String(), path: Type.String() }, others))),
    skipCrds: flag(),
    skipSchemaValidation: flag(),
    skipTests: flag(),
  },
  others,
);

export const DirectorySource = Type.Object(
  { recurse: flag(), include: text(), exclude: text(), jsonnet: Type.Optional(AnyValue()) },
  others,
);

export const ApplicationSource = Type.Object(
  {
    repoURL: Type.String(),
    path: text(),
    targetRevision: text(),
    chart: text(),
    ref: text(),
    helm: Type.Optional(HelmSource),
    directory: Type.Optional(DirectorySource),
    kustomize: Type.Optional(AnyValue()),
    plugin: Type.Optional(AnyValue()),
  },
  others,
);

const Retry = Type.Object(
  {
    limit: Type.Optional(Type.Integer()),
    backoff: Type.Optional(
      Type.Object({ duration: text(), factor: Type.Optional(Type.Integer()), maxDuration: text() }, others),
    ),
  },
  others,
);

const SyncPolicy = Type.Object(
  {
    automated: Type.Optional(
      Type.Object({ prune: flag(), selfHeal: flag(), allowEmpty: flag(), enabled: flag() }, others),
    ),
    syncOptions: texts(),
    retry: Type.Optional(Retry),
    managedNamespaceMetadata: Type.Optional(
      Type.Object(
        {
          labels: Type.Optional(Type.Record(Type.String(), Type.String())),
          annotations: Type.Optional(Type.Record(Type.String(), Type.String())),
        },
        others,
      ),
    ),
  },
  others,
);

export const IgnoredDifference = Type.Object(
  {
    group: text(),
    kind: Type.String(),
    name: text(),
    namespace: text(),
    jsonPointers: texts(),
    jqPathExpressions: texts(),
    managedFieldsManagers: texts(),
  },
  others,
);

/** What we understand of an Application's `spec`. */
export const ApplicationSpec = Type.Object(
  {
    project: text(),
    destination: Type.Object({ server: text(), name: text(), namespace: text() }, others),
    source: Type.Optional(ApplicationSource),
    sources: Type.Optional(Type.Array(ApplicationSource)),
    syncPolicy: Type.Optional(SyncPolicy),
    ignoreDifferences: Type.Optional(Type.Array(IgnoredDifference)),
    revisionHistoryLimit: Type.Optional(Type.Integer()),
  },
  others,
);

/** A synchronization somebody asks for, as `argocd app sync` and `kubectl patch` write it. */
export const Operation = Type.Object(
  {
    initiatedBy: Type.Optional(Type.Object({ username: text(), automated: flag() }, others)),
    sync: Type.Optional(Type.Object({ prune: flag(), syncOptions: texts(), revision: text() }, others)),
    retry: Type.Optional(Retry),
  },
  others,
);
