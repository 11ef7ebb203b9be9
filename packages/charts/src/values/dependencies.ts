import { parseConstraint } from '../functions/semver-constraint.ts';
import { SemverVersion } from '../functions/semver-version.ts';
import { deepCopy, type GoMap, type Value } from '../go/values.ts';
import { coalesceTables, coalesceValues, tableAt, valueAt } from './coalesce.ts';
import type { ChartDependency } from '../chart/chart.ts';
import { chartNode, requiredName, type ChartNode } from '../chart/chart-node.ts';
import type { DialectSwitches } from '../chart/dialect.ts';

/** Settles which subcharts take part, under which names, and what they give their parents. */
export function processDependencies(root: ChartNode, values: GoMap, switches: DialectSwitches): void {
  enable(root, values, '', switches);
  importAll(root, switches);
}

/** The dependencies of a chart that take part, each under the name it has there, and with what it imports said in full. */
export function settledDependencies(node: ChartNode): ChartDependency[] {
  return node.requirements.map((requirement) => ({
    ...requirement,
    name: requiredName(node, requirement),
    importValues: requirement.importValues.map(importOf),
  }));
}

/** Whether a version lies in a range; nonsense lies in none. */
export function isCompatible(range: string, version: string): boolean {
  try {
    return parseConstraint(range).check(SemverVersion.parse(version));
  } catch {
    return false;
  }
}

function enable(node: ChartNode, values: GoMap, path: string, switches: DialectSwitches): void {
  if (node.requirements.length === 0 && !node.chart.hasEmptyRequirements) return;
  node.isSettled = true;
  const matches = (child: ChartNode, requirement: ChartDependency) =>
    child.name === requirement.name && isCompatible(requirement.version, child.chart.metadata.version);
  const unnamed = node.children.filter(
    (child) => !node.requirements.some((requirement) => matches(child, requirement)),
  );
  const named = node.requirements.flatMap((requirement) => {
    const found = node.children.find((child) => matches(child, requirement));
    // One chart may be there several times under several aliases: each is a copy of its own.
    return found ? [renamed(chartNode(found.chart, node), requiredName(node, requirement))] : [];
  });
  node.children = [...unnamed, ...named];

  const coalesced = coalesceValues(node, values, switches);
  const off = new Set(
    node.requirements
      .filter((requirement) => !isEnabled(requirement, coalesced, path))
      .map((requirement) => requiredName(node, requirement)),
  );
  node.children = node.children.filter((child) => !off.has(child.name));
  node.requirements = node.requirements.filter((requirement) => !off.has(requiredName(node, requirement)));
  for (const child of node.children) enable(child, coalesced, `${path}${child.name}.`, switches);
}

function renamed(node: ChartNode, name: string): ChartNode {
  node.name = name;
  return node;
}

/** Tags decide first, the first condition that is there and a boolean decides over them. */
function isEnabled(requirement: ChartDependency, values: GoMap, path: string): boolean {
  for (const condition of requirement.condition.trim().split(',')) {
    const value = condition === '' ? undefined : valueAt(values, path + condition);
    if (typeof value === 'boolean') return value;
  }
  const tags = tableAt(values, 'tags');
  const states = requirement.tags.map((tag) => tags?.get(tag)).filter((state) => typeof state === 'boolean');
  return states.includes(true) || !states.includes(false);
}

function importAll(node: ChartNode, switches: DialectSwitches): void {
  for (const child of node.children) importAll(child, switches);
  importInto(node, switches);
}

function importInto(node: ChartNode, switches: DialectSwitches): void {
  if (node.requirements.length === 0) return;
  const values = coalesceValues(node, new Map(), switches, true);
  let imported: GoMap = new Map();
  for (const requirement of node.requirements) {
    const name = requiredName(node, requirement);
    for (const item of requirement.importValues) {
      const { child, parent } = importOf(item);
      const table = tableAt(values, `${name}.${child}`);
      if (table) imported = coalesceTables(imported, at(parent, table), true);
    }
  }
  node.values = coalesceTables(deepCopy(values), imported, true);
}

function importOf(item: ChartDependency['importValues'][number]): { readonly child: string; readonly parent: string } {
  return typeof item === 'string' ? { child: `exports.${item}`, parent: '.' } : item;
}

function at(path: string, table: GoMap): GoMap {
  if (path === '.') return table;
  return path.split('.').reduceRight<GoMap>((inner, part) => new Map<string, Value>([[part, inner]]), table);
}
