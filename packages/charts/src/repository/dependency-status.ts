import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Chart, ChartDependency } from '../chart/chart.ts';
import { loadChart } from '../chart/load.ts';
import { isCompatible } from '../values/dependencies.ts';
import { isWithin } from './path-name.ts';
import { isExactVersion, wantedRange } from './version-choice.ts';

/** How a dependency lies in `charts/`: `ok` is an archive, `unpacked` a folder. */
export type DependencyStatus =
  | 'ok'
  | 'unpacked'
  | 'missing'
  | 'wrong version'
  | 'invalid version'
  | 'misnamed'
  | 'corrupt'
  | 'too many matches';

/** What is in `charts/` for a dependency of the chart in this folder. */
export async function dependencyStatus(
  path: string,
  chart: Chart,
  dependency: ChartDependency,
): Promise<DependencyStatus> {
  const prefix = `${dependency.name}-`;
  const names = await readdir(join(path, 'charts')).catch(() => []);
  const archives = names.filter((name) => name.startsWith(prefix) && name.endsWith('.tgz'));
  const likely =
    archives.length === 1
      ? archives
      : archives.filter((name) => isExactVersion(name.slice(prefix.length, -'.tgz'.length)));
  if (likely.length > 1) return 'too many matches';
  if (likely.length === 1) return await archiveStatus(path, likely[0]!, dependency);
  const present = chart.dependencies.findLast(({ metadata }) => metadata.name === dependency.name);
  return present ? (versionStatus(present, dependency) ?? 'unpacked') : 'missing';
}

/** What is in `charts/` and not in Chart.yaml, by its name there. */
export interface UnnamedEntry {
  readonly name: string;
  /** Whether it is a chart at all. */
  readonly isChart: boolean;
}

/** Folders and archives in `charts/` that Chart.yaml does not name. */
export async function unnamedEntries(path: string, { metadata }: Chart): Promise<UnnamedEntry[]> {
  const folder = join(path, 'charts');
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const unnamed: UnnamedEntry[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!entry.isDirectory() && !entry.name.endsWith('.tgz')) continue;
    const found = await chartWithin(path, join(folder, entry.name));
    if (!found || !metadata.dependencies.some(({ name }) => name === found.metadata.name))
      unnamed.push({ name: entry.name, isChart: found !== undefined });
  }
  return unnamed;
}

/** A chart in `charts/`. Links are followed inside the chart, though `.helmignore` may hide them from whoever loads it. */
async function chartWithin(path: string, file: string): Promise<Chart | undefined> {
  return (await isWithin(path, file)) ? await loadChart(file).catch(() => undefined) : undefined;
}

async function archiveStatus(path: string, name: string, dependency: ChartDependency): Promise<DependencyStatus> {
  const chart = await chartWithin(path, join(path, 'charts', name));
  if (!chart) return 'corrupt';
  if (chart.metadata.name !== dependency.name) return 'misnamed';
  return versionStatus(chart, dependency) ?? 'ok';
}

function versionStatus({ metadata }: Chart, { version }: ChartDependency): DependencyStatus | undefined {
  if (metadata.version === version) return undefined;
  try {
    wantedRange(version);
  } catch {
    return 'invalid version';
  }
  return isCompatible(version, metadata.version) ? undefined : 'wrong version';
}
