/**
 * The keys of a state, in the order in which helmfile writes them. A key that helmfile knows and we do not do is `refused`;
 * a key that is not here is unknown. Both are errors that name the place.
 */
export interface Field {
  /**
   * `values` is a list of paths and inline maps, `struct` one group of keys, `structs` a list of them, `named` a map of
   * them.
   */
  readonly type:
    | 'string'
    | 'bool'
    | 'int'
    | 'strings'
    | 'labels'
    | 'values'
    | 'refused'
    | 'struct'
    | 'structs'
    | 'named';
  /** The keys of a struct, of each of `structs`, of each of `named`. */
  readonly fields?: Fields;
  /** What `build` writes when it is not set. */
  readonly otherwise?: false | 0 | '' | 'empty list' | 'empty mapping';
  /** `build` leaves it out when it is false or zero. */
  readonly omitted?: boolean;
  /** What may be written instead of a struct: a text that stands for this key. */
  readonly short?: string;
}

export type Fields = Readonly<Record<string, Field>>;

const text: Field = { type: 'string' };
const flag: Field = { type: 'bool' };
const shownFlag: Field = { type: 'bool', otherwise: false };
const integer: Field = { type: 'int' };
const shownInteger: Field = { type: 'int', otherwise: 0 };
const omittedFlag: Field = { type: 'bool', omitted: true };
const texts: Field = { type: 'strings' };
const labels: Field = { type: 'labels' };
const values: Field = { type: 'values' };
const refused: Field = { type: 'refused' };
const refusedFlag: Field = { type: 'refused', otherwise: false };
const refusedInteger: Field = { type: 'refused', otherwise: 0 };

const hooks: Field = {
  type: 'structs',
  fields: {
    name: { type: 'string', otherwise: '' },
    events: { type: 'strings', otherwise: 'empty list' },
    command: { type: 'string', otherwise: '' },
    kubectlApply: labels,
    args: { type: 'strings', otherwise: 'empty list' },
    showlogs: shownFlag,
  },
};

const helmDefaults: Fields = {
  kubeContext: text,
  args: refused,
  diffArgs: refused,
  syncArgs: refused,
  templateArgs: refused,
  verify: refusedFlag,
  keyring: refused,
  enableDNS: refusedFlag,
  skipSchemaValidation: flag,
  devel: refusedFlag,
  wait: shownFlag,
  waitRetries: refusedInteger,
  waitForJobs: shownFlag,
  timeout: shownInteger,
  recreatePods: refusedFlag,
  force: refusedFlag,
  atomic: shownFlag,
  rollbackOnFailure: shownFlag,
  cleanupOnFail: omittedFlag,
  forceConflicts: shownFlag,
  historyMax: integer,
  createNamespace: flag,
  skipCRDs: omittedFlag,
  skipDeps: shownFlag,
  skipRefresh: shownFlag,
  resolveOCIVersions: refused,
  reuseValues: shownFlag,
  postRenderer: refused,
  postRendererArgs: refused,
  cascade: refused,
  suppressOutputLineRegex: refused,
  disableAutoDetectedKubeVersionForDiff: refused,
  disableValidation: flag,
  disableOpenAPIValidation: flag,
  insecureSkipTLSVerify: refused,
  plainHttp: refused,
  deleteWait: omittedFlag,
  deleteTimeout: { type: 'int', omitted: true },
  syncReleaseLabels: refused,
  takeOwnership: flag,
  serverSide: refused,
  trackMode: refused,
  helmStuckGrace: refused,
};

/** `hooks` run programs: a template may carry them, a release that has them is refused. */
const releaseKeys = (ofHooks: Field): Fields => ({
  chart: text,
  chartPath: refused,
  directory: refused,
  version: text,
  verify: refused,
  keyring: refused,
  enableDNS: refused,
  devel: refused,
  wait: flag,
  waitRetries: refused,
  waitForJobs: flag,
  timeout: integer,
  recreatePods: refused,
  force: refused,
  installed: flag,
  updateStrategy: refused,
  atomic: flag,
  rollbackOnFailure: flag,
  cleanupOnFail: flag,
  forceConflicts: flag,
  historyMax: integer,
  condition: text,
  createNamespace: flag,
  reuseValues: flag,
  disableOpenAPIValidation: flag,
  disableValidation: flag,
  disableValidationOnInstall: flag,
  missingFileHandler: text,
  missingFileHandlerConfig: refused,
  needs: texts,
  hooks: ofHooks,
  unitTests: refused,
  name: text,
  description: text,
  namespace: text,
  labels,
  values,
  secrets: refused,
  set: refused,
  setString: refused,
  valuesTemplate: values,
  setTemplate: refused,
  apiVersions: texts,
  kubeVersion: text,
  env: refused,
  valuesPathPrefix: refused,
  kubeContext: text,
  insecureSkipTLSVerify: refused,
  plainHttp: refused,
  verifyTemplate: refused,
  waitTemplate: refused,
  installedTemplate: text,
  conditionTemplate: refused,
  dependencies: refused,
  jsonPatches: refused,
  strategicMergePatches: refused,
  transformers: refused,
  adopt: refused,
  forceGoGetter: refused,
  forceNamespace: refused,
  skipDeps: flag,
  skipRefresh: flag,
  resolveOCIVersions: refused,
  postRenderer: refused,
  skipSchemaValidation: flag,
  postRendererArgs: refused,
  cascade: refused,
  suppressOutputLineRegex: refused,
  disableAutoDetectedKubeVersionForDiff: refused,
  inherit: refused,
  suppressDiff: refused,
  deleteWait: flag,
  deleteTimeout: integer,
  syncReleaseLabels: refused,
  takeOwnership: flag,
  serverSide: refused,
  trackMode: refused,
  trackTimeout: refused,
  trackLogs: refused,
  trackFailedLogs: refused,
  helmStuckGrace: refused,
  trackKinds: refused,
  skipKinds: refused,
  trackResources: refused,
  kubedogQPS: refused,
  kubedogBurst: refused,
  trackFailOnError: refused,
});

const releaseFields = releaseKeys(refused);

export const stateFields: Fields = {
  helmBinary: refused,
  kustomizeBinary: refused,
  values,
  environments: {
    type: 'named',
    fields: {
      values,
      secrets: refused,
      kubeContext: text,
      missingFileHandler: text,
      missingFileHandlerConfig: refused,
      mergeStrategy: refused,
    },
  },
  bases: texts,
  helmDefaults: { type: 'struct', fields: helmDefaults },
  helmfiles: {
    type: 'structs',
    short: 'path',
    fields: { path: text, selectors: texts, selectorsInherited: omittedFlag, inherits: refused, values },
  },
  kubeContext: text,
  namespace: text,
  chart: refused,
  repositories: {
    type: 'structs',
    fields: {
      name: text,
      url: text,
      caFile: text,
      certFile: text,
      keyFile: text,
      username: text,
      password: text,
      registryConfig: refused,
      managed: refused,
      oci: omittedFlag,
      verify: refused,
      keyring: refused,
      passCredentials: omittedFlag,
      skipTLSVerify: omittedFlag,
      plainHttp: omittedFlag,
    },
  },
  commonLabels: labels,
  releases: { type: 'structs', fields: releaseFields },
  llm: refused,
  apiVersions: texts,
  kubeVersion: text,
  hooks: refused,
  templates: { type: 'named', fields: releaseKeys(hooks), otherwise: 'empty mapping' },
  defaultInherit: refused,
  missingFileHandler: text,
  missingFileHandlerConfig: refused,
  lockFilePath: refused,
};
