import { fullPath, type ChartNode } from '../chart/chart-node.ts';
import type { DialectSwitches } from '../chart/dialect.ts';
import { metadataAsMap } from '../chart/metadata.ts';
import type { FunctionEnvironment } from '../functions/environment.ts';
import { helmFunctions } from '../functions/index.ts';
import { keyStock, mentionsKeys } from '../functions/key-stock.ts';
import { bytesToText, utf8Compare } from '../go/bytes.ts';
import { viewAs } from '../go/typed-view.ts';
import { isMap, typed, type GoMap, type Value } from '../go/values.ts';
import type { FunctionTable } from '../template/run.ts';
import { TemplateSet } from '../template/template-set.ts';
import { tableAt } from '../values/coalesce.ts';
import { ChartStruct } from './chart-struct.ts';
import { Files } from './files.ts';
import { executionFailure, parseFailure } from './render-error.ts';

interface Renderable {
  readonly text: string;
  readonly values: GoMap;
  readonly basePath: string;
}

/** Runs every template of a chart and its subcharts; answers the outputs by path. */
export async function renderTemplates(
  root: ChartNode,
  top: GoMap,
  environment: FunctionEnvironment,
  switches: DialectSwitches,
  functions: FunctionTable = functionsOf(switches),
): Promise<Map<string, string>> {
  const keys = needsKeys(root) ? `${root.name} ${root.chart.metadata.version}` : undefined;
  if (keys !== undefined) keyStock.begin(keys);
  const renderables = new Map<string, Renderable>();
  collect(root, top, renderables, switches);
  const paths = deepestFirst(renderables.keys());
  const set = new TemplateSet({ functions, missingKey: 'zero', environment });
  for (const path of paths) {
    try {
      set.add(path, renderables.get(path)!.text);
    } catch (error) {
      throw parseFailure(path, error);
    }
  }
  if (keys !== undefined) await keyStock.arrive(keys);
  const rendered = new Map<string, string>();
  for (const path of paths) {
    if (path.slice(path.lastIndexOf('/') + 1).startsWith('_')) continue;
    const { values, basePath } = renderables.get(path)!;
    values.set(
      'Template',
      typed(
        new Map<string, Value>([
          ['Name', path],
          ['BasePath', basePath],
        ]),
        switches.valuesType,
      ),
    );
    try {
      // `missingkey=zero` still prints this for a nil; no chart means it.
      rendered.set(path, set.execute(path, values).replaceAll('<no value>', ''));
    } catch (error) {
      throw executionFailure(error);
    }
  }
  if (keys !== undefined) keyStock.note(keys);
  return rendered;
}

function needsKeys({ chart, children }: ChartNode): boolean {
  return chart.templates.some(({ data }) => mentionsKeys(data)) || children.some(needsKeys);
}

/** One table for each dialect: parsed templates are kept by it. */
const tables = new Map<DialectSwitches, FunctionTable>();

function functionsOf(switches: DialectSwitches): FunctionTable {
  if (switches.lacksFunctions.length === 0) return helmFunctions;
  let table = tables.get(switches);
  if (!table) {
    const lacking = new Set(switches.lacksFunctions);
    tables.set(switches, (table = new Map([...helmFunctions].filter(([name]) => !lacking.has(name)))));
  }
  return table;
}

/** Templates are parsed from the deepest path on, so that a parent's definitions replace its subcharts'. */
function deepestFirst(paths: Iterable<string>): string[] {
  return [...paths]
    .map((path) => ({ path, depth: path.split('/').length }))
    .sort((a, b) => b.depth - a.depth || utf8Compare(b.path, a.path))
    .map(({ path }) => path);
}

function collect(
  node: ChartNode,
  above: GoMap,
  renderables: Map<string, Renderable>,
  switches: DialectSwitches,
): GoMap {
  const subcharts: GoMap = new Map();
  const isRoot = node.parent === undefined;
  const parentValues = above.get('Values');
  // A name with dots is a path, at which there is nothing.
  const section = isMap(parentValues) ? tableAt(parentValues, node.name) : undefined;
  // In the parent's values it stays a map as others are.
  const values = isRoot ? parentValues : viewAs(section ?? new Map(), switches.valuesType);
  const scope: GoMap = typed(
    new Map<string, Value>([
      ['Chart', switches.chartIsMap ? chartMap(node, isRoot) : new ChartStruct(chartMap(node, isRoot))],
      ['Files', new Files(node.chart.files)],
      ['Release', above.get('Release')],
      ['Capabilities', above.get('Capabilities')],
      ['Values', values],
      ['Subcharts', subcharts],
    ]),
    switches.valuesType,
  );
  for (const child of node.children) subcharts.set(child.name, collect(child, scope, renderables, switches));
  const path = fullPath(node);
  const isLibrary = node.chart.metadata.type === 'library';
  for (const template of node.chart.templates) {
    const base = template.name.slice(template.name.lastIndexOf('/') + 1);
    if (isLibrary && !base.startsWith('_')) continue;
    renderables.set(`${path}/${template.name}`, {
      text: bytesToText(template.data),
      values: scope,
      basePath: `${path}/templates`,
    });
  }
  return scope;
}

function chartMap(node: ChartNode, isRoot: boolean): GoMap {
  const { metadata } = node.chart;
  return metadataAsMap({ ...metadata, name: node.name, dependencies: node.requirements }, isRoot, node.isSettled);
}
