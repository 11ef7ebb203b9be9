export { ChartError, type ChartErrorCode } from './chart/chart-error.ts';
export type { Chart, ChartDependency, ChartFile, ChartMaintainer, ChartMetadata } from './chart/chart.ts';
export { compileGlob } from './chart/glob.ts';
export { checkInstallable } from './chart/installable.ts';
export { loadChart, loadFiles, readValuesText } from './chart/load.ts';
export { makeEnvironment, watchedEnvironment, type FunctionEnvironment } from './functions/environment.ts';
export { helmFunctions } from './functions/index.ts';
export { fromPlain, toPlain, type GoMap, type Value } from './go/values.ts';
export { capabilitiesOf, lookupIn } from './release/capabilities-of-cluster.ts';
export type { CapabilitiesOptions } from './render/capabilities.ts';
export type { Dialect } from './chart/dialect.ts';
export { installOrder, sortByKind, uninstallOrder } from './render/kind-order.ts';
export type { Lookup, LookupQuery } from './render/lookup.ts';
export type { HookEvent, RenderedHook, RenderedManifest } from './render/manifests.ts';
export {
  renderChart,
  type ReleaseOptions,
  type RenderedChart,
  type RenderedCrd,
  type RenderOptions,
  type UserValues,
} from './render/render.ts';
export { RenderCache } from './render/render-cache.ts';
export { manifestText, templateOutput, type TemplateOutputOptions } from './render/template-output.ts';
export type { FunctionTable, MissingKey, TemplateFunction } from './template/run.ts';
export { fn, inRun, variadic } from './template/signature.ts';
export { TemplateExecError, TemplateParseError } from './template/template-error.ts';
export { parseTemplate, TemplateSet, type TemplateSetOptions } from './template/template-set.ts';
export { parseSet, parseSetFile, type SetMode } from './values/set.ts';
export { collectValues, type ValueSources } from './values/value-options.ts';
export { mergeMaps } from './chart/merge-maps.ts';
export { readAllYaml, readYaml, YamlError } from './yaml/read.ts';
export { writeYaml } from './yaml/write.ts';
export { diffUninstall, diffUpgrade, type DifferenceOptions, type ReleaseChange } from './release/difference.ts';
export { installRelease, type InstallOptions } from './release/install.ts';
export type { ReleaseContext, ReleaseProgress } from './release/operation.ts';
export type { Release, ReleaseHook, ReleaseStatus } from './release/release.ts';
export { ReleaseError, type ReleaseErrorCode } from './release/release-error.ts';
export { rollbackRelease, type RollbackOptions } from './release/rollback.ts';
export { planInstallation, planUpgrade } from './release/dry-run.ts';
export { recordedRevision } from './release/recorded-revision.ts';
export { ReleaseStorage, type StoredRelease } from './release/storage.ts';
export { testRelease, type TestedRelease, type TestOptions } from './release/test-release.ts';
export { uninstallRelease, type Uninstalled, type UninstallOptions } from './release/uninstall.ts';
export { upgradeRelease, type UpgradeOptions } from './release/upgrade.ts';
export { HelmfileCache } from './helmfile/cache.ts';
export type { ExecProgram } from './helmfile/functions.ts';
export { HelmfileError, type HelmfileErrorCode } from './helmfile/helmfile-error.ts';
export {
  loadHelmfile,
  type Helmfile,
  type ListedRelease,
  type LoadHelmfileOptions,
  type RenderReleaseOptions,
} from './helmfile/helmfile.ts';
export { applyReleases, diffReleases, type ReleaseDifference } from './helmfile/diff.ts';
export type { NeedsPolicy } from './helmfile/plan.ts';
export type { OpenCharts } from './helmfile/remote-charts.ts';
export type { HelmfileRelease } from './helmfile/release.ts';
export { destroyReleases, syncReleases } from './helmfile/sync.ts';
export type { HelmfileWorkOptions, ReleaseOutcome } from './helmfile/work.ts';
export { changeText } from './command/change-text.ts';
export { diffManifests, type ObjectDifference } from './diff/manifest-diff.ts';
export { buildDependencies, updateDependencies, type DependencyContext } from './repository/chart-dependencies.ts';
export {
  ChartRepositories,
  type ChartReference,
  type ChartSource,
  type PulledChart,
  type RepositoryOptions,
} from './repository/chart-repositories.ts';
export type { OpenServer } from './repository/download.ts';
export { readHelmConfig, type ConfiguredRepository, type HelmConfig } from './repository/helm-config.ts';
export type { RegistryCredentials, RepositoryCredentials } from './repository/docker-credentials.ts';
export { packageChart } from './repository/package-chart.ts';
export { RepositoryError, type RepositoryErrorCode } from './repository/repository-error.ts';
