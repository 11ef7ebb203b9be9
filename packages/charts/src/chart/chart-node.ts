import type { GoMap } from '../go/values.ts';
import type { Chart, ChartDependency } from './chart.ts';

/**
 * A chart while it is being prepared for one render: aliases rename it, conditions drop parts of it, imports change its
 * values. The {@link Chart} it stands for stays as it is.
 */
export interface ChartNode {
  readonly chart: Chart;
  /** Its name, or the alias its parent gave it. */
  name: string;
  values: GoMap;
  requirements: ChartDependency[];
  /**
   * Whether aliases, tags and conditions of the requirements were looked at. A chart that names no requirements has none, and Helm does not
   * look at those of the charts in it.
   */
  isSettled: boolean;
  children: ChartNode[];
  parent: ChartNode | undefined;
}

export function chartNode(chart: Chart, parent?: ChartNode): ChartNode {
  const node: ChartNode = {
    chart,
    name: chart.metadata.name,
    values: chart.values,
    requirements: [...chart.metadata.dependencies],
    isSettled: false,
    children: [],
    parent,
  };
  node.children = chart.dependencies.map((dependency) => chartNode(dependency, node));
  return node;
}

/** Where the chart's files are in Helm's output: `parent/charts/child`. */
export function fullPath(node: ChartNode): string {
  return node.parent ? `${fullPath(node.parent)}/charts/${node.name}` : node.name;
}

/** What a chart is called by the one that requires it. */
export function requiredName({ isSettled }: ChartNode, { name, alias }: ChartDependency): string {
  return isSettled && alias !== '' ? alias : name;
}
