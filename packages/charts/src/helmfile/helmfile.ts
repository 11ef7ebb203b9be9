import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Chart } from '../chart/chart.ts';
import { checkInstallable } from '../chart/installable.ts';
import { loadChart } from '../chart/load.ts';
import type { EnvironmentOptions } from '../functions/environment.ts';
import { utf8Compare } from '../go/bytes.ts';
import { fromPlain, isMap, toPlain, type GoMap, type Value } from '../go/values.ts';
import type { ReleaseContext } from '../release/operation.ts';
import { checkReleaseName } from '../release/release-name.ts';
import { renderChart, type RenderedChart, type RenderOptions } from '../render/render.ts';
import type { RenderCache } from '../render/render-cache.ts';
import { HelmfileCache } from './cache.ts';
import type { Spec } from './decode.ts';
import { emptyEnvironment, type Environment } from './environment.ts';
import type { ExecProgram } from './functions.ts';
import { HelmfileError } from './helmfile-error.ts';
import { StateLoader } from './load-state.ts';
import { planBatches, type NeedsPolicy } from './plan.ts';
import { checkUnique, evaluateReleases, type HelmfileRelease } from './release.ts';
import { chartValues, releaseValues } from './release-values.ts';
import { RemoteCharts, type OpenCharts } from './remote-charts.ts';
import { Renderer } from './renderer.ts';
import { areCompatible, parseSelectors } from './selectors.ts';
import { flagOf, groupOf, listOf, specsOf, textOf, textsOf, type State } from './state.ts';
import { syncReleases } from './sync.ts';
import { realPath, TreeFiles } from './tree-files.ts';
import type { HelmfileWorkOptions, ReleaseOutcome } from './work.ts';

/** Which helmfile, and what it may reach. */
export interface LoadHelmfileOptions {
  /** A state file, or a directory of them. Default: `helmfile.yaml`, `helmfile.yaml.gotmpl` or `helmfile.d` in `cwd`. */
  path?: string;
  /** Default `default`. */
  environment?: string;
  /** Each `key=value,key!=value`; a release that satisfies one of them is taken. Default: every release. */
  selectors?: readonly string[];
  /** What `env` and `requiredEnv` read. Default: nothing, so that a result depends on its arguments alone. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Where relative paths begin. */
  cwd: string;
  /** Values over those of the environment, for every state that is not nested. */
  values?: Readonly<Record<string, unknown>>;
  /** Files of values over these, later ones over earlier ones; templates when their names end in `.gotmpl`. */
  valuesFiles?: readonly string[];
  /** Values over all others. Items of a list take the place of those at the same positions. */
  set?: Readonly<Record<string, unknown>>;
  /** Templates may read files below these directories. Default: `cwd` and the directory of every state. */
  roots?: readonly string[];
  /** Runs programs for `exec`. Default: a template that wants one is refused. */
  exec?: ExecProgram;
  /** Where charts come from that are not on this machine. Default: a release with such a chart is refused. */
  charts?: OpenCharts;
  /** Keep one to make later loads faster. */
  cache?: HelmfileCache;
  /** Keep one to render no chart twice. */
  renders?: RenderCache;
  /** Clock, randomness and zone of the template functions. */
  functions?: EnvironmentOptions;
}

/** A row of `helmfile list`. */
export interface ListedRelease {
  readonly name: string;
  readonly namespace: string;
  readonly enabled: boolean;
  readonly installed: boolean;
  /** `key:value`, sorted, joined by commas. */
  readonly labels: string;
  readonly chart: string;
  readonly version: string;
}

/** A state and its releases. */
export interface LoadedState {
  readonly state: State;
  /** What the selectors took. */
  readonly releases: readonly HelmfileRelease[];
  /** Everything the state defines. */
  readonly all: readonly HelmfileRelease[];
}

/** A tree of states, loaded. Dispose of it when it may have fetched charts. */
export interface Helmfile extends AsyncDisposable {
  /** The states, nested ones before those that include them. */
  readonly states: readonly LoadedState[];
  /** What the selectors took, in the order of the states; also those that are not `enabled` or not `installed`. */
  readonly releases: readonly HelmfileRelease[];
  /** `.Values` of the last state: for a single state, what `build` calls `renderedvalues`. */
  readonly environmentValues: Readonly<Record<string, unknown>>;
  /** What `helmfile list` prints: by namespace, then name. */
  listReleases(): ListedRelease[];
  /** A release's own values, as `write-values` writes them. */
  valuesOf(release: HelmfileRelease): GoMap;
  /** The same as Helm reads them. */
  chartValuesOf(release: HelmfileRelease): GoMap;
  chartOf(release: HelmfileRelease): Promise<Chart>;
  /** The releases to work on, in order: state by state, what others need first. Without those that are not enabled. Default `skip`. */
  plan(needs?: NeedsPolicy): HelmfileRelease[];
  /** Renders the chart of a release with its values. */
  renderRelease(release: HelmfileRelease, options?: RenderReleaseOptions): Promise<RenderedChart>;
  /** Brings every release to what the helmfile says. */
  syncReleases(context: ReleaseContext, options?: HelmfileWorkOptions): Promise<ReleaseOutcome[]>;
}

/** What a release cannot say itself. */
export type RenderReleaseOptions = Omit<RenderOptions, 'values' | 'release'> &
  Pick<RenderOptions['release'], 'isUpgrade' | 'revision'>;

/**
 * Loads a helmfile: a state file or a directory of them, with everything it includes.
 *
 * @example
 * const helmfile = await loadHelmfile({ cwd: '/srv/platform', path: 'helmfile.d', selectors: ['app=core'] });
 * for (const release of helmfile.releases) console.log(release.name, helmfile.valuesOf(release));
 */
export async function loadHelmfile(options: LoadHelmfileOptions): Promise<Helmfile> {
  return new LoadedHelmfile(options);
}

class LoadedHelmfile implements Helmfile {
  readonly states: readonly LoadedState[];
  readonly releases: readonly HelmfileRelease[];
  readonly #renderer: Renderer;
  readonly #charts = new Map<string, Promise<Chart>>();
  readonly #remote: RemoteCharts | undefined;
  readonly #renders: RenderCache | undefined;

  constructor(options: LoadHelmfileOptions) {
    this.#renders = options.renders;
    const visit = new TreeVisit(options);
    visit.visitAll();
    this.states = visit.states;
    this.releases = visit.states.flatMap(({ releases }) => releases);
    this.#renderer = visit.renderer;
    this.#remote = options.charts && new RemoteCharts(options.charts, options.env ?? {});
  }

  get environmentValues(): Readonly<Record<string, unknown>> {
    return toPlain(this.states.at(-1)!.state.values) as Record<string, unknown>;
  }

  listReleases(): ListedRelease[] {
    return this.releases
      .map(({ name, namespace, enabled, installed, labels, chart, version }) => ({
        name,
        namespace,
        enabled,
        installed,
        labels: [...labels]
          .sort(([a], [b]) => utf8Compare(a, b))
          .map(([key, value]) => `${key}:${value}`)
          .join(','),
        chart,
        version,
      }))
      .sort((a, b) => utf8Compare(a.namespace, b.namespace) || utf8Compare(a.name, b.name));
  }

  plan(needs?: NeedsPolicy): HelmfileRelease[] {
    return this.states.flatMap(({ releases, all }) =>
      planBatches(
        releases.filter(({ enabled }) => enabled),
        all,
        needs,
      ).flat(),
    );
  }

  valuesOf(release: HelmfileRelease): GoMap {
    return releaseValues(release, this.#renderer);
  }

  chartValuesOf(release: HelmfileRelease): GoMap {
    return chartValues(release, this.#renderer);
  }

  async chartOf(release: HelmfileRelease): Promise<Chart> {
    const { chart, state, name } = release;
    if (/^[a-z0-9+.-]+::|^git@/i.test(chart))
      throw new HelmfileError(
        'Unsupported',
        `${state.file}: chart ${chart} of release "${name}": charts are not fetched this way`,
        { hint: 'name one in a local directory, of a repository or of a registry' },
      );
    const path = isAbsolute(chart) ? chart : join(state.directory, chart);
    const { files } = this.#renderer;
    if (!files.isDirectory(path) && !files.isFile(path)) {
      const isLocal = isAbsolute(chart) || chart.startsWith('.') || !chart.includes('/');
      if (this.#remote && !isLocal) return await this.#remote.load(release);
      throw new HelmfileError(
        'NotFound',
        `${state.file}: chart ${chart} of release "${name}" does not exist in ${state.directory}`,
        { hint: 'name a chart in a local directory, or one of a repository or registry where those may be asked' },
      );
    }
    if (files.isDirectory(path) && !files.isFile(join(path, 'Chart.yaml')))
      throw new HelmfileError(
        'Unsupported',
        `${state.file}: chart ${chart} of release "${name}" has no Chart.yaml: manifests and kustomizations are not made into charts`,
      );
    let loading = this.#charts.get(path);
    if (!loading) this.#charts.set(path, (loading = loadChart(path)));
    return await loading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#remote?.[Symbol.asyncDispose]();
  }

  async syncReleases(context: ReleaseContext, options?: HelmfileWorkOptions): Promise<ReleaseOutcome[]> {
    return await syncReleases(this, context, options);
  }

  async renderRelease(release: HelmfileRelease, options: RenderReleaseOptions = {}): Promise<RenderedChart> {
    const { isUpgrade, revision, ...rest } = options;
    const { spec } = release;
    checkReleaseName(release.name);
    const chart = await this.chartOf(release);
    checkInstallable(chart);
    const defaults = groupOf(release.state.spec, 'helmDefaults');
    return await renderChart(chart, {
      ...(this.#renders ? { cache: this.#renders } : {}),
      skipSchemaValidation: flagOf(spec, 'skipSchemaValidation') ?? flagOf(defaults, 'skipSchemaValidation') ?? false,
      ...rest,
      capabilities: {
        ...(spec.has('kubeVersion') ? { kubeVersion: textOf(spec, 'kubeVersion') } : {}),
        ...(spec.has('apiVersions') ? { apiVersions: textsOf(spec, 'apiVersions') } : {}),
        ...rest.capabilities,
      },
      values: this.chartValuesOf(release),
      release: {
        name: release.name,
        namespace: release.namespace === '' ? 'default' : release.namespace,
        ...(isUpgrade === undefined ? {} : { isUpgrade }),
        ...(revision === undefined ? {} : { revision }),
      },
    });
  }
}

/** One state may be included many times; a tree has some twenty. */
const mostStates = 10_000;

/** The walk through the states: every file of a directory by name, nested states before the state that includes them. */
class TreeVisit {
  readonly states: LoadedState[] = [];
  readonly renderer: Renderer;
  readonly #options: LoadHelmfileOptions;
  readonly #files: TreeFiles;
  readonly #loader: StateLoader;
  readonly #undefined: HelmfileError[] = [];
  #visited = 0;

  constructor(options: LoadHelmfileOptions) {
    this.#options = options;
    this.#files = new TreeFiles(options.roots ?? [options.cwd]);
    this.renderer = new Renderer({
      files: this.#files,
      variables: options.env ?? {},
      exec: options.exec,
      cache: options.cache ?? new HelmfileCache(),
      functions: options.functions,
    });
    this.#loader = new StateLoader(this.renderer);
  }

  visitAll(): void {
    const { selectors = [] } = this.#options;
    parseSelectors(selectors);
    this.#visit(this.#entry(), { selectors, overrides: this.#givenValues(), including: [] });
    if (this.states.length === 0 && this.#undefined.length > 0) throw this.#undefined[0];
  }

  #givenValues(): Environment | undefined {
    const { values, valuesFiles = [], set, environment = 'default', cwd } = this.#options;
    if (!values && valuesFiles.length === 0 && !set) return undefined;
    const context = emptyEnvironment(environment);
    const place = { file: 'given values', directory: cwd, place: 'file', context, missing: 'Error' };
    const given = values ? [withIntegers(fromPlain(values))] : [];
    return {
      ...context,
      values: this.#loader.loadValues([...given, ...valuesFiles], place),
      set: withIntegers(fromPlain(set ?? {})) as GoMap,
    };
  }

  #entry(): string {
    const { path, cwd } = this.#options;
    if (path !== undefined) return resolve(cwd, path);
    const found = ['helmfile.yaml', 'helmfile.yaml.gotmpl', 'helmfile.d'].filter((name) => {
      const candidate = join(cwd, name);
      return this.#files.isFile(candidate) || this.#files.isDirectory(candidate);
    });
    if (found.length > 1)
      throw new HelmfileError('InvalidState', `${cwd} has ${found.join(' and ')}: only one of them can be meant`);
    if (found.length === 0)
      throw new HelmfileError('NotFound', `${cwd} has no helmfile.yaml, helmfile.yaml.gotmpl or helmfile.d`, {
        hint: 'name the state with --file',
      });
    return join(cwd, found[0]!);
  }

  #visit(path: string, context: VisitContext): void {
    for (const file of this.#stateFiles(path)) {
      // Links lead to one state by many names.
      const place = join(realPath(dirname(file)), basename(file));
      const circle = context.including.findIndex((including) => including.place === place);
      if (circle >= 0)
        throw new HelmfileError(
          'Circular',
          `helmfiles include each other: ${[...context.including.slice(circle).map((each) => each.file), file].join(' -> ')}`,
        );
      this.#visitFile(file, { ...context, including: [...context.including, { file, place }] });
    }
  }

  #stateFiles(path: string): string[] {
    if (this.#files.isFile(path)) return [path];
    const entries = this.#files.list(path);
    if (!entries)
      throw new HelmfileError('NotFound', `${path}: no such state file or directory`, {
        hint: 'check the path; it is relative to the current directory',
      });
    const states = entries.filter((entry) => !entry.isDirectory && /\.y.*ml(\.gotmpl)?$/.test(entry.name));
    if (states.length === 0)
      throw new HelmfileError('NotFound', `${path} has no state files`, {
        hint: 'their names end in .yaml, .yml, .yaml.gotmpl or .yml.gotmpl',
      });
    return states.map((entry) => join(path, entry.name));
  }

  #visitFile(file: string, context: VisitContext): void {
    this.#visited += 1;
    if (this.#visited > mostStates)
      throw new HelmfileError('InvalidState', `${file}: more than ${mostStates} states are included`, {
        hint: 'states that each include two others twice are thousands soon: include each once',
      });
    if (!this.#options.roots) this.#files.addRoot(join(file, '..'));
    let state: State;
    try {
      state = this.#loader.load({
        file,
        environment: this.#options.environment ?? 'default',
        overrides: context.overrides,
      });
    } catch (error) {
      // A state that does not know the environment has nothing to say about it.
      if (!(error instanceof HelmfileError) || error.code !== 'UndefinedEnvironment') throw error;
      this.#undefined.push(error);
      return;
    }
    this.#visitNested(state, context);
    const takes = parseSelectors(context.selectors);
    const all = evaluateReleases(state, this.renderer);
    // As in helmfile, a selector passes over what is not enabled; without one everything is listed.
    const releases = all.filter(({ labels, enabled }) => takes(labels) && (enabled || context.selectors.length === 0));
    checkUnique(releases);
    this.states.push({ state, releases, all });
  }

  #visitNested(state: State, context: VisitContext): void {
    const expanded = specsOf(state.spec, 'helmfiles').flatMap((nested, index) =>
      this.#matches(nested, state, `helmfiles[${index}]`).map((path) => ({
        nested,
        path,
        place: `helmfiles[${index}]`,
      })),
    );
    state.spec.set(
      'helmfiles',
      expanded.map(({ nested, path }) => new Map([...nested, ['path', path]])),
    );
    for (const { nested, path, place } of expanded) {
      const own = nested.has('selectors') ? textsOf(nested, 'selectors') : undefined;
      if (own && own.length > 0 && flagOf(nested, 'selectorsInherited'))
        throw new HelmfileError('InvalidState', `${state.file}: ${place} has both selectors and selectorsInherited`);
      if (!areCompatible(this.#options.selectors ?? [], own ?? [])) continue;
      this.#visit(path, {
        selectors: own && !flagOf(nested, 'selectorsInherited') ? own : context.selectors,
        overrides: this.#overridesOf(nested, state, place),
        including: context.including,
      });
    }
  }

  #matches(nested: Spec, { file, directory, spec }: State, place: string): string[] {
    const path = textOf(nested, 'path');
    if (path === '') throw new HelmfileError('InvalidState', `${file}: ${place}.path is missing`);
    if (/:\/\/|::|^git@/.test(path))
      throw new HelmfileError('Unsupported', `${file}: ${place}.path: ${path}: remote states are not supported`);
    const matches = this.#files.glob(isAbsolute(path) ? path : join(directory, path));
    const handler = textOf(spec, 'missingFileHandler');
    if (matches.length === 0 && (handler === '' || handler === 'Error'))
      throw new HelmfileError('NotFound', `${file}: ${place}.path: ${path} does not exist in ${directory}`);
    return matches;
  }

  #overridesOf(nested: Spec, state: State, place: string): Environment | undefined {
    const entries = listOf(nested, 'values');
    if (entries.length === 0) return undefined;
    const name = this.#options.environment ?? 'default';
    const values = this.#loader.loadValues(entries, {
      file: state.file,
      directory: state.directory,
      place: `${place}.values`,
      context: emptyEnvironment(name),
      missing: 'Error',
    });
    return { ...emptyEnvironment(name), values };
  }
}

interface VisitContext {
  readonly selectors: readonly string[];
  readonly overrides: Environment | undefined;
  /** The states that led here, and where they really lie. */
  readonly including: readonly { readonly file: string; readonly place: string }[];
}

/** JavaScript does not tell `int` from `float64`; a whole number in YAML is an `int`. */
function withIntegers(value: Value): Value {
  if (Array.isArray(value)) return value.map(withIntegers);
  if (isMap(value)) return new Map([...value].map(([key, item]) => [key, withIntegers(item)]));
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}
