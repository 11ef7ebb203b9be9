import { ChartError } from '../chart/chart-error.ts';
import { chartNode } from '../chart/chart-node.ts';
import type { Chart } from '../chart/chart.ts';
import { dialects } from '../chart/dialect.ts';
import { makeEnvironment } from '../functions/environment.ts';
import { helmFunctions } from '../functions/index.ts';
import { quote } from '../go/quote.ts';
import { isMap, typed, type GoMap, type Value } from '../go/values.ts';
import { Capabilities, defaultKubeVersion } from '../render/capabilities.ts';
import { validateValues } from '../render/schema.ts';
import { renderTemplates } from '../render/templates.ts';
import { fn } from '../template/signature.ts';
import { coalesceValues } from '../values/coalesce.ts';
import { processDependencies } from '../values/dependencies.ts';
import { readYaml } from '../yaml/read.ts';
import { deprecation } from './deprecated-versions.ts';
import type { LintedChart } from './lint-chart.ts';
import type { Findings } from './lint-message.ts';
import { nameComplaint } from './object-names.ts';
import { documentsIn } from './documents.ts';

const folder = 'templates/';

/** What is wrong with the templates, and with what they render. */
export async function templateRules(findings: Findings, linted: LintedChart): Promise<void> {
  const { files, folders, chart } = linted;
  const isFile = files.some(({ name }) => name === 'templates');
  const exists = isFile || folders.has('templates') || files.some(({ name }) => name.startsWith(folder));
  if (!findings.note('WARNING', folder, exists ? undefined : 'directory does not exist')) return;
  if (!findings.note('ERROR', folder, isFile ? 'not a directory' : undefined)) return;
  if (chart instanceof ChartError) return void findings.note('ERROR', folder, chart.message);
  let rendered: ReadonlyMap<string, string> | undefined;
  try {
    rendered = await render(chart, linted);
  } catch (error) {
    if (!(error instanceof ChartError)) throw error;
    findings.note('ERROR', folder, error.message);
  }
  if (rendered === undefined) return;
  for (const { name } of chart.templates) {
    findings.note('ERROR', name, extensionComplaint(name));
    if (!/\.ya?ml$/i.test(name)) continue;
    const text = rendered.get(`${chart.metadata.name}/${name}`) ?? '';
    if (text.trim() !== '' && !outputRules(findings, name, text, linted)) return;
  }
}

/** What templates say when a required value is missing is no mistake of the chart. */
const lenient = new Map([
  ...helmFunctions,
  ['required', fn(['string', 'any'], (_warning, value) => value ?? '')],
  ['fail', fn(['string'], () => '')],
] as const);

/** The outputs by path; nothing where values and subcharts do not go together, of which other rules speak. */
async function render(chart: Chart, { options }: LintedChart): Promise<ReadonlyMap<string, string> | undefined> {
  const switches = dialects.helm4;
  const root = chartNode(chart);
  let values: GoMap;
  try {
    processDependencies(root, options.values, switches);
    // Twice, as Helm does here: a default that a null removed is back.
    const once = coalesceValues(root, options.values, switches);
    values = typed(coalesceValues(root, once, switches), switches.valuesType);
  } catch (error) {
    if (error instanceof ChartError) return undefined;
    throw error;
  }
  if (!options.skipSchemaValidation) validateValues(root, values);
  const release: GoMap = new Map<string, Value>([
    ['Name', 'test-release'],
    ['Namespace', options.namespace],
    ['IsUpgrade', false],
    ['IsInstall', false],
    ['Revision', 0n],
    ['Service', 'Helm'],
  ]);
  const top: GoMap = new Map<string, Value>([
    ['Release', release],
    ['Capabilities', new Capabilities({ helmVersion: switches.helmVersion, kubeVersion: options.kubeVersion })],
    ['Values', values],
  ]);
  return await renderTemplates(root, top, makeEnvironment(), switches, lenient);
}

/** Answers whether the text could be read to its end. */
function outputRules(findings: Findings, name: string, text: string, { options }: LintedChart): boolean {
  findings.note('WARNING', name, indentComplaint(text));
  for (const document of documentsIn(text)) {
    let object: Value;
    try {
      object = readYaml(document);
    } catch (error) {
      const { message } = error as Error;
      return findings.note('ERROR', name, `unable to parse YAML: error converting YAML to JSON: ${message}`);
    }
    if (object === null) continue;
    if (!isMap(object)) {
      const type = Array.isArray(object) ? 'array' : typeof object === 'boolean' ? 'bool' : typeof object;
      const message = `json: cannot unmarshal ${type} into Go value of type rules.k8sYamlStruct`;
      return findings.note(
        'ERROR',
        name,
        `unable to parse YAML: error unmarshaling JSON: while decoding JSON: ${message}`,
      );
    }
    objectRules(findings, name, object, text, options.kubeVersion);
  }
  return true;
}

function objectRules(
  findings: Findings,
  path: string,
  object: GoMap,
  text: string,
  kubeVersion: string | undefined,
): void {
  const kind = String(object.get('kind') ?? '');
  const apiVersion = String(object.get('apiVersion') ?? '');
  const metadata = object.get('metadata');
  const name = isMap(metadata) ? String(metadata.get('name') ?? '') : '';
  findings.note('WARNING', path, nameComplaint(kind, name));
  const minor = Number(/^v?\d+\.(\d+)/.exec(kubeVersion ?? defaultKubeVersion)![1]);
  findings.note('WARNING', path, deprecation(apiVersion, kind, minor));
  const selects = ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'].includes(kind);
  const lacksSelector = selects && !text.includes('matchLabels') && !text.includes('matchExpressions');
  findings.note(
    'ERROR',
    path,
    lacksSelector ? `a ${kind} must contain matchLabels or matchExpressions, and ${quote(name)} does not` : undefined,
  );
  const isIgnored = kind === 'List' && itemsOf(object).some(asksToStay);
  findings.note(
    'ERROR',
    path,
    isIgnored ? "annotation 'helm.sh/resource-policy' within List objects are ignored" : undefined,
  );
}

function itemsOf(list: GoMap): readonly Value[] {
  const items = list.get('items');
  return Array.isArray(items) ? items : [];
}

function asksToStay(item: Value): boolean {
  const metadata = isMap(item) ? item.get('metadata') : undefined;
  const annotations = isMap(metadata) ? metadata.get('annotations') : undefined;
  return isMap(annotations) && annotations.has('helm.sh/resource-policy');
}

function extensionComplaint(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  const extension = dot < 0 ? '' : name.slice(dot);
  if (['.yaml', '.yml', '.tpl', '.txt'].includes(extension)) return undefined;
  return `file extension '${extension}' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt`;
}

function indentComplaint(text: string): string | undefined {
  const first = text.split('\n').find((line) => line.trim() !== '')!;
  if (!/^[ \t]/.test(first)) return undefined;
  return `document starts with an illegal indent: ${quote(first)}, which may cause parsing problems`;
}
