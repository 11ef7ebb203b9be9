import { Struct } from '../go/struct.ts';
import { deepCopy, deepEqual, isMap, isTrue, nilMap, typed, type GoMap, type Value } from '../go/values.ts';
import { readYaml } from '../yaml/read.ts';
import { writeYaml } from '../yaml/write.ts';
import { oldFlags, type Spec } from './decode.ts';
import { environmentStruct } from './environment.ts';
import { HelmfileError } from './helmfile-error.ts';
import type { Renderer } from './renderer.ts';
import { flagOf, groupOf, listOf, specsOf, textOf, textsOf, type State } from './state.ts';
import { copyOnDemand } from './copy-on-demand.ts';
import { helmfileYaml } from './timestamp.ts';

/** A release of a state, its template expressions evaluated. */
export interface HelmfileRelease {
  readonly name: string;
  readonly namespace: string;
  /** As the state names it; a local chart is relative to the state's directory. */
  readonly chart: string;
  readonly version: string;
  /** False: it is to be removed where it is installed. */
  readonly installed: boolean;
  /** False: its `condition` does not hold, and nothing happens to it. */
  readonly enabled: boolean;
  /** With `name`, `namespace` and `chart`, which every release has. */
  readonly labels: ReadonlyMap<string, string>;
  /** The context of the kubeconfig it belongs to; empty: the current one. */
  readonly kubeContext: string;
  /** What `needs` of others refer to it by: `namespace/name` or `name`, with its `kubeContext` before that. */
  readonly id: string;
  /** Releases that come before it, by their ids. */
  readonly needs: readonly string[];
  /** Every key of it, as `build` prints it. */
  readonly spec: Spec;
  readonly state: State;
}

/** A context without a namespace is told from a namespace by two slashes. */
function releaseId(kubeContext: string, namespace: string, name: string): string {
  if (kubeContext !== '') return `${kubeContext}/${namespace}/${name}`;
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** A release may refer to itself, and what it refers to may be an expression too. */
const mostPasses = 6;

/** Evaluates the releases of a state, in order. */
export function evaluateReleases(state: State, renderer: Renderer): HelmfileRelease[] {
  return specsOf(state.spec, 'releases').map((spec, index) =>
    makeRelease(evaluate(spec, index, state, renderer), index, state),
  );
}

function evaluate(written: Spec, index: number, state: State, renderer: Renderer): Spec {
  const spec = deepCopy(written);
  const defaults: [string, Value][] = [
    ['kubeContext', textOf(groupOf(state.spec, 'helmDefaults'), 'kubeContext')],
    ['apiVersions', [...listOf(state.spec, 'apiVersions')]],
    ['kubeVersion', textOf(state.spec, 'kubeVersion')],
  ];
  for (const [key, value] of defaults) if (!isTrue(spec.get(key)) && isTrue(value)) spec.set(key, value);
  spec.set('labels', new Map([...groupOf(spec, 'labels'), ...groupOf(state.spec, 'commonLabels')]));

  let previous = spec;
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const evaluated = evaluateOnce(spec, releaseData(previous, state), `releases[${index}]`, state, renderer);
    if (deepEqual(previous, evaluated)) return withInstalled(evaluated, index, state);
    previous = evaluated;
  }
  throw new HelmfileError(
    'Circular',
    `${state.file}: releases[${index}]: the expressions refer to each other without end`,
  );
}

const trimmed = ['name', 'chart', 'namespace', 'version'];

function evaluateOnce(spec: Spec, data: Value, place: string, state: State, renderer: Renderer): Spec {
  const render = (text: string, path: string) =>
    renderer.render({ name: `${state.file}: ${place}.${path}`, text, data, directory: state.directory });
  const result = deepCopy(spec);
  for (const key of trimmed) {
    const text = textOf(spec, key);
    if (text !== '') result.set(key, render(text, key).trim());
  }
  if (spec.has('installedTemplate'))
    result.set('installedTemplate', render(textOf(spec, 'installedTemplate'), 'installedTemplate'));
  result.set(
    'labels',
    new Map([...groupOf(spec, 'labels')].map(([key, text]) => [key, render(text as string, `labels.${key}`)])),
  );
  const templated = listOf(spec, 'valuesTemplate').map((entry, index) =>
    isMap(entry) ? renderMap(entry, (text) => render(text, `valuesTemplate[${index}]`)) : entry,
  );
  if (templated.length > 0) result.set('valuesTemplate', templated);
  const values = [...templated, ...listOf(spec, 'values')].map((entry, index) =>
    typeof entry === 'string' ? render(entry, `values[${index}]`) : entry,
  );
  if (values.length > 0) result.set('values', values);
  if (spec.has('needs'))
    result.set(
      'needs',
      textsOf(spec, 'needs').map((text, index) => render(text, `needs[${index}]`)),
    );
  return result;
}

function renderMap(map: GoMap, render: (text: string) => string): Value {
  return readYaml(render(writeYaml(map, { dialect: 'v3' })), helmfileYaml);
}

function withInstalled(spec: Spec, index: number, state: State): Spec {
  const template = spec.get('installedTemplate');
  if (template === undefined) return spec;
  const read = readYaml(template as string, { dialect: 'v3' });
  const installed = typeof read === 'string' ? oldFlags.get(read) : (read ?? false);
  if (typeof installed !== 'boolean')
    throw new HelmfileError(
      'InvalidState',
      `${state.file}: releases[${index}].installedTemplate must come to true or false, not ${JSON.stringify(template)}`,
    );
  spec.delete('installedTemplate');
  spec.set('installed', installed);
  return spec;
}

const ofTexts = 'map[string]string';

/** What a release's expressions and its values files see. */
export function releaseData(spec: Spec, state: State): Struct {
  const values = copyOnDemand(state.values);
  const labels = groupOf(spec, 'labels');
  return new Struct('state.releaseTemplateData', {
    Environment: environmentStruct(state.environment),
    Release: new Struct('state.releaseTemplateDataRelease', {
      Name: textOf(spec, 'name'),
      Namespace: textOf(spec, 'namespace'),
      Labels: labels.size === 0 ? nilMap(ofTexts) : typed(deepCopy(labels), ofTexts),
      Chart: textOf(spec, 'chart'),
      ChartVersion: textOf(spec, 'version'),
      KubeContext: textOf(spec, 'kubeContext'),
    }),
    Values: values,
    StateValues: values,
    KubeContext: textOf(state.spec, 'kubeContext'),
    Namespace: textOf(state.spec, 'namespace'),
    Chart: '',
  });
}

function makeRelease(spec: Spec, index: number, state: State): HelmfileRelease {
  const place = `${state.file}: releases[${index}]`;
  const name = textOf(spec, 'name');
  const chart = textOf(spec, 'chart');
  if (name === '') throw new HelmfileError('InvalidState', `${place}.name is missing`);
  if (chart === '') throw new HelmfileError('InvalidState', `${place}.chart is missing (release "${name}")`);
  // What the state says for all its releases wins over what they say.
  for (const key of ['namespace', 'kubeContext'])
    if (textOf(state.spec, key) !== '') spec.set(key, textOf(state.spec, key));
  const namespace = textOf(spec, 'namespace');
  const context = textOf(spec, 'kubeContext');
  const needs = textsOf(spec, 'needs').map((need) => needId(need, context, namespace));
  if (needs.length > 0) spec.set('needs', needs);
  const labels = groupOf(spec, 'labels') as Map<string, string>;
  labels.set('name', name);
  labels.set('namespace', namespace);
  labels.set('chart', chart.slice(chart.lastIndexOf('/') + 1));
  return {
    name,
    namespace,
    chart,
    version: textOf(spec, 'version'),
    installed: flagOf(spec, 'installed') ?? true,
    enabled: isEnabled(textOf(spec, 'condition'), state, place),
    labels,
    kubeContext: context || contextOfEnvironment(state),
    id: releaseId(context, namespace, name),
    needs,
    spec,
    state,
  };
}

function contextOfEnvironment({ spec, environment }: State): string {
  const own = groupOf(spec, 'environments').get(environment.name);
  return own instanceof Map ? textOf(own, 'kubeContext') : '';
}

/** A need without a namespace or a context means the release's own. */
function needId(need: string, kubeContext: string, namespace: string): string {
  const parts = need.split('/');
  const name = parts.pop()!;
  return releaseId(parts.slice(0, -1).join('/') || kubeContext, parts.at(-1) ?? namespace, name);
}

/** `a.b.enabled` names a flag among the values. */
function isEnabled(condition: string, state: State, place: string): boolean {
  if (condition === '') return true;
  if (/^(true|false)$/i.test(condition)) return condition.toLowerCase() === 'true';
  const keys = condition.split('.');
  if (keys.pop() !== 'enabled')
    throw new HelmfileError('InvalidState', `${place}.condition must have the form foo.enabled, not ${condition}`);
  let value: Value = state.values;
  for (const key of keys) {
    value = isMap(value) ? value.get(key) : undefined;
    if (!isMap(value))
      throw new HelmfileError('InvalidState', `${place}.condition: the values have no mapping at ${keys.join('.')}`);
  }
  return value.get('enabled') === true;
}

/** Two releases of one name in one place would undo each other. */
export function checkUnique(releases: readonly HelmfileRelease[]): void {
  const known = new Set<string>();
  for (const release of releases) {
    if (known.has(release.id))
      throw new HelmfileError(
        'InvalidState',
        `${release.state.file}: releases: there are two releases "${release.name}" in namespace "${release.namespace}"`,
      );
    known.add(release.id);
  }
}
