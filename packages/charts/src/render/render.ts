import type { Clock, Random } from '@slipway/kube';
import { ChartError } from '../chart/chart-error.ts';
import type { Chart, ChartDependency, ChartFile } from '../chart/chart.ts';
import { withFirstDocuments } from '../chart/load.ts';
import { chartNode, fullPath, type ChartNode } from '../chart/chart-node.ts';
import { isCompatible, processDependencies, settledDependencies } from '../values/dependencies.ts';
import { makeEnvironment, watchedEnvironment, type FunctionEnvironment } from '../functions/environment.ts';
import { fromPlain, toPlain, typed, type GoMap, type Value } from '../go/values.ts';
import { asciiText } from '../go/bytes.ts';
import { coalesceValues } from '../values/coalesce.ts';
import { Capabilities, type CapabilitiesOptions } from './capabilities.ts';
import { dialects, type Dialect } from '../chart/dialect.ts';
import { LookupMemo, type Lookup } from './lookup.ts';
import { sortManifests, type RenderedHook, type RenderedManifest } from './manifests.ts';
import type { RenderCache } from './render-cache.ts';
import { renderTemplates } from './templates.ts';

/** Values of a user: plain objects, or Go values as `collectValues` and `parseSet` make them, which tell integers from floats. */
export type UserValues = Readonly<Record<string, unknown>> | GoMap;

/** What a chart is rendered with. */
export interface RenderOptions {
  /** The user's values, which lie over the chart's. Default: none. */
  values?: UserValues;
  release: ReleaseOptions;
  /** What `.Capabilities` says; `capabilitiesOf` asks a cluster. Default: what Helm says without one. */
  capabilities?: CapabilitiesOptions;
  /** Reads the cluster for `lookup`; without it every lookup finds nothing. */
  lookup?: Lookup;
  /** Which Helm to be. Default `helm4`. */
  dialect?: Dialect;
  /** Notes of subcharts besides the chart's own. Default false. */
  subNotes?: boolean;
  /** Default false: values are checked against `values.schema.json`. */
  skipSchemaValidation?: boolean;
  /** Tells `now` and dates of certificates. Default: the clock of the machine. */
  clock?: Clock;
  /** Default: that of the machine. */
  random?: Random;
  /** For keys and passwords. Default: those of the machine, which nobody can guess. */
  randomBytes?: (size: number) => Uint8Array;
  /** A zone, or how to find out when a template asks: that takes a while. Default `UTC`. */
  timeZone?: string | (() => string);
  /** Keep one to render nothing twice. Default: everything is rendered. */
  cache?: RenderCache;
}

/** What `.Release` says. */
export interface ReleaseOptions {
  name: string;
  /** Default `default`. */
  namespace?: string;
  /** Default 1. */
  revision?: number;
  /** Default: that it is no upgrade. */
  isInstall?: boolean;
  /** Default false. */
  isUpgrade?: boolean;
}

/** What came of a chart. */
export interface RenderedChart {
  /** What is to be installed, in order. */
  readonly manifests: readonly RenderedManifest[];
  /** In the same order; those of an event run by weight and name. */
  readonly hooks: readonly RenderedHook[];
  /** What NOTES.txt says to the user; empty where there is none. */
  readonly notes: string;
  /** The files under `crds/` of the chart and its enabled subcharts. */
  readonly crds: readonly RenderedCrd[];
  /** The values templates saw, defaults and subcharts included. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The chart's own values after imports: what a release record stores. */
  readonly chartValues: Readonly<Record<string, unknown>>;
  /** The chart's dependencies that take part, as they were settled: what a release record stores. */
  readonly chartDependencies: readonly ChartDependency[];
  /** Whether the same chart and options always give this: neither clock nor chance nor the cluster had a part in it. */
  readonly isPure: boolean;
}

/** A file of definitions, which is passed on as it is. */
export interface RenderedCrd {
  /** `chart/crds/file.yaml` */
  readonly path: string;
  /** The file as it is. */
  readonly data: Uint8Array;
  /** Its text. Read when it is first asked for: definitions are large, and most are only passed on. */
  readonly content: string;
}

/**
 * Renders a chart as `helm template` does.
 *
 * @example
 * const { manifests } = await renderChart(chart, { values: { replicas: 2 }, release: { name: 'shop' } });
 */
export async function renderChart(chart: Chart, options: RenderOptions): Promise<RenderedChart> {
  return options.cache ? await options.cache.render(chart, options, render) : await render(chart, options);
}

async function render(chart: Chart, options: RenderOptions): Promise<RenderedChart> {
  const given = fromPlain(options.values ?? {}) as GoMap;
  const switches = dialects[options.dialect ?? 'helm4'];
  const capabilities = new Capabilities({ helmVersion: switches.helmVersion, ...options.capabilities });
  const root = chartNode(switches.valuesDocuments === 'first' ? withFirstDocuments(chart) : chart);
  processDependencies(root, given, switches);
  checkKubeVersion(chart, capabilities);
  const values = typed(coalesceValues(root, given, switches), switches.valuesType);
  if (!options.skipSchemaValidation && hasSchema(root)) {
    // Few charts have one; the validator is large.
    const { validateValues } = await import('./schema.ts');
    validateValues(root, values);
  }

  const memo = new LookupMemo(options.lookup);
  let files = new Map<string, string>();
  let isPure = true;
  let failure: { readonly error: unknown } | undefined;
  do {
    failure = undefined;
    const environment: FunctionEnvironment = watchedEnvironment(
      makeEnvironment({ ...options, lookup: (...key) => memo.answer(...key) }),
      () => (isPure = false),
    );
    // Templates may change values: each pass begins with values of its own.
    const top: GoMap = new Map<string, Value>([
      ['Release', releaseMap(options.release)],
      ['Capabilities', capabilities],
      ['Values', typed(memo.passes === 0 && !options.lookup ? values : copyOf(values), switches.valuesType)],
    ]);
    // What fails for want of an answer, such as a Secret that has to be there, is tried again with it.
    try {
      files = await renderTemplates(root, top, environment, switches);
    } catch (error) {
      failure = { error };
    }
  } while (await memo.fetchMissing({ isCutShort: failure !== undefined }));
  if (failure) throw failure.error;

  let plainValues: Record<string, unknown> | undefined;
  const notes = takeNotes(files, root, options.subNotes ?? false);
  const { manifests, hooks } = sortManifests(files, switches);
  return {
    manifests,
    hooks,
    notes,
    crds: crdsOf(root),
    isPure,
    // Few readers want them, and large charts have many.
    get values() {
      return (plainValues ??= toPlain(values) as Record<string, unknown>);
    },
    get chartValues() {
      return toPlain(root.values) as Record<string, unknown>;
    },
    get chartDependencies() {
      return settledDependencies(root);
    },
  };
}

function copyOf(values: GoMap): GoMap {
  return fromPlain(values) as GoMap;
}

function hasSchema(node: ChartNode): boolean {
  return node.chart.schema !== undefined || node.children.some(hasSchema);
}

function checkKubeVersion(chart: Chart, capabilities: Capabilities): void {
  const { kubeVersion } = chart.metadata;
  const present = capabilities.kubeVersion;
  if (kubeVersion !== '' && !isCompatible(kubeVersion, present.normalised))
    throw new ChartError(
      'Incompatible',
      `chart requires kubeVersion: ${kubeVersion} which is incompatible with Kubernetes ${present.version}`,
    );
}

function releaseMap(release: ReleaseOptions): GoMap {
  const isUpgrade = release.isUpgrade ?? false;
  return new Map<string, Value>([
    ['Name', release.name],
    ['Namespace', release.namespace ?? 'default'],
    ['IsUpgrade', isUpgrade],
    ['IsInstall', release.isInstall ?? !isUpgrade],
    ['Revision', BigInt(release.revision ?? 1)],
    ['Service', 'Helm'],
  ]);
}

function takeNotes(files: Map<string, string>, root: ChartNode, subNotes: boolean): string {
  const notes: string[] = [];
  const own = `${root.name}/templates/NOTES.txt`;
  for (const path of [...files.keys()].sort()) {
    if (!path.endsWith('NOTES.txt')) continue;
    if (subNotes || path === own) notes.push(files.get(path)!);
    files.delete(path);
  }
  return notes.join('\n');
}

function textOf(data: Uint8Array): string {
  return asciiText(data) ?? Buffer.from(data.buffer, data.byteOffset, data.length).toString('utf8');
}

function renderedCrd(path: string, data: Uint8Array): RenderedCrd {
  let content: string | undefined;
  return {
    path,
    data,
    get content() {
      return (content ??= textOf(data));
    },
  };
}

/** The files under `crds/` of a chart and of those of its subcharts that values enable: they are installed before anything is rendered. */
export function chartCrds(chart: Chart, values: UserValues, dialect: Dialect = 'helm4'): readonly RenderedCrd[] {
  const root = chartNode(chart);
  processDependencies(root, fromPlain(values) as GoMap, dialects[dialect]);
  return crdsOf(root);
}

/** The files under `crds/` of a chart and its subcharts. */
export function crdsOf(node: ChartNode): RenderedCrd[] {
  const isCrd = (file: ChartFile) => file.name.startsWith('crds/') && /\.(yaml|yml|json)$/i.test(file.name);
  return [
    ...node.chart.files.filter(isCrd).map((file) => renderedCrd(`${fullPath(node)}/${file.name}`, file.data)),
    ...node.children.flatMap(crdsOf),
  ];
}
