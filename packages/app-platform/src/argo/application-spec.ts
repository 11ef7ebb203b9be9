import { AnyFields, AnyValue, Type } from '@slipway/kube';

const text = () => Type.Optional(Type.String());
const flag = () => Type.Optional(Type.Boolean());
const texts = () => Type.Optional(Type.Array(Type.String()));

const Parameter = Type.Object({ name: Type.String(), value: text(), forceString: flag() });

export const HelmSource = Type.Object({
  releaseName: text(),
  namespace: text(),
  values: text(),
  valuesObject: Type.Optional(AnyFields()),
  valueFiles: texts(),
  ignoreMissingValueFiles: flag(),
  parameters: Type.Optional(Type.Array(Parameter)),
  fileParameters: Type.Optional(Type.Array(Type.Object({ name: Type.String(), path: Type.String() }))),
  skipCrds: flag(),
  skipSchemaValidation: flag(),
  skipTests: flag(),
  version: text(),
  passCredentials: flag(),
  kubeVersion: text(),
  apiVersions: texts(),
});

export const DirectorySource = Type.Object({
  recurse: flag(),
  include: text(),
  exclude: text(),
  jsonnet: Type.Optional(AnyValue()),
});

export const ApplicationSource = Type.Object({
  repoURL: Type.String(),
  path: text(),
  targetRevision: text(),
  chart: text(),
  ref: text(),
  helm: Type.Optional(HelmSource),
  directory: Type.Optional(DirectorySource),
  kustomize: Type.Optional(AnyValue()),
  plugin: Type.Optional(AnyValue()),
  name: text(),
});

const Retry = Type.Object({
  limit: Type.Optional(Type.Integer()),
  backoff: Type.Optional(Type.Object({ duration: text(), factor: Type.Optional(Type.Integer()), maxDuration: text() })),
  refresh: flag(),
});

const SyncPolicy = Type.Object({
  automated: Type.Optional(Type.Object({ prune: flag(), selfHeal: flag(), allowEmpty: flag(), enabled: flag() })),
  syncOptions: texts(),
  retry: Type.Optional(Retry),
  managedNamespaceMetadata: Type.Optional(
    Type.Object({
      labels: Type.Optional(Type.Record(Type.String(), Type.String())),
      annotations: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
  ),
});

export const IgnoredDifference = Type.Object({
  group: text(),
  kind: Type.String(),
  name: text(),
  namespace: text(),
  jsonPointers: texts(),
  jqPathExpressions: texts(),
  managedFieldsManagers: texts(),
});

/** Every field of an Application's `spec`: what is not here is refused by its name, never left out in silence. */
export const ApplicationSpec = Type.Object({
  project: text(),
  destination: Type.Object({ server: text(), name: text(), namespace: text() }),
  source: Type.Optional(ApplicationSource),
  sources: Type.Optional(Type.Array(ApplicationSource)),
  syncPolicy: Type.Optional(SyncPolicy),
  ignoreDifferences: Type.Optional(Type.Array(IgnoredDifference)),
  revisionHistoryLimit: Type.Optional(Type.Integer()),
  info: Type.Optional(Type.Array(AnyValue())),
  sourceHydrator: Type.Optional(AnyValue()),
});

const SyncStrategy = Type.Object({
  apply: Type.Optional(Type.Object({ force: flag() })),
  hook: Type.Optional(Type.Object({ force: flag() })),
});

/** A synchronization somebody asks for, as `argocd app sync` and `kubectl patch` write it. */
export const Operation = Type.Object({
  initiatedBy: Type.Optional(Type.Object({ username: text(), automated: flag() })),
  sync: Type.Optional(
    Type.Object({
      prune: flag(),
      syncOptions: texts(),
      revision: text(),
      revisions: texts(),
      dryRun: flag(),
      syncStrategy: Type.Optional(SyncStrategy),
      resources: Type.Optional(Type.Array(AnyValue())),
      source: Type.Optional(AnyValue()),
      sources: Type.Optional(Type.Array(AnyValue())),
      manifests: texts(),
      autoHealAttemptsCount: Type.Optional(Type.Integer()),
    }),
  ),
  retry: Type.Optional(Retry),
  info: Type.Optional(Type.Array(AnyValue())),
});
