import type { GoMap } from '../go/values.ts';

/** One file of a chart. */
export interface ChartFile {
  /** Path inside the chart, with slashes. */
  readonly name: string;
  readonly data: Uint8Array;
}

/** A chart that Chart.yaml asks for; texts it does not say are empty. */
export interface ChartDependency {
  readonly name: string;
  readonly version: string;
  readonly repository: string;
  readonly condition: string;
  readonly tags: readonly string[];
  /** Names of `exports`, or which table of the child goes to which of the parent. */
  readonly importValues: readonly (string | { readonly child: string; readonly parent: string })[];
  readonly alias: string;
}

/** Somebody who keeps a chart. */
export interface ChartMaintainer {
  readonly name: string;
  readonly email: string;
  readonly url: string;
}

/** Chart.yaml; texts it does not say are empty. */
export interface ChartMetadata {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly description: string;
  readonly type: string;
  readonly appVersion: string;
  readonly kubeVersion: string;
  readonly home: string;
  readonly icon: string;
  readonly condition: string;
  readonly tags: string;
  readonly deprecated: boolean;
  readonly sources: readonly string[];
  readonly keywords: readonly string[];
  readonly maintainers: readonly ChartMaintainer[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly dependencies: readonly ChartDependency[];
}

/** A chart as it was read. Rendering does not change it. */
export interface Chart {
  readonly metadata: ChartMetadata;
  /** Chart.yaml has a list of dependencies and nothing in it: the charts in `charts/` are then looked at for theirs, which else they are not. */
  readonly hasEmptyRequirements?: boolean;
  /** Chart.lock (or requirements.lock) as it is. */
  readonly lock: GoMap | undefined;
  /** values.yaml. */
  readonly values: GoMap;
  /** values.schema.json, as it is. */
  readonly schema: Uint8Array | undefined;
  readonly templates: readonly ChartFile[];
  /** What templates reach through `.Files`, `crds/` included. */
  readonly files: readonly ChartFile[];
  /** Every file, as it was read. */
  readonly raw: readonly ChartFile[];
  /** The charts under `charts/`. */
  readonly dependencies: readonly Chart[];
}
