import { ChartError } from './chart-error.ts';
import type { Chart } from './chart.ts';

/** Refuses what Helm does not install: a library, and a chart whose `charts/` lacks what Chart.yaml names. */
export function checkInstallable(chart: Chart): void {
  checkSupported(chart);
  if (chart.metadata.type === 'library') throw new ChartError('InvalidChart', 'library charts are not installable');
  const missing = missingDependencies(chart);
  if (missing.length > 0)
    throw new ChartError(
      'InvalidChart',
      `an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies: ${missingText(missing)}`,
      { hint: dependencyHint },
    );
}

/** Refuses a chart that is written for a Helm yet to come. What is in its `charts/` may say what it likes. */
export function checkSupported({ metadata }: Chart): void {
  if (!['v1', 'v2'].includes(metadata.apiVersion)) throw new ChartError('InvalidChart', 'unsupported chart version');
}

/** Refuses a chart whose `charts/` lacks what Chart.yaml names. */
export function checkComplete(chart: Chart): void {
  const missing = missingDependencies(chart);
  if (missing.length > 0) throw new ChartError('InvalidChart', missingText(missing), { hint: dependencyHint });
}

/** What Chart.yaml names and `charts/` lacks. */
export function missingDependencies(chart: Chart): string[] {
  const present = new Set(chart.dependencies.map((dependency) => dependency.metadata.name));
  return chart.metadata.dependencies.map(({ name }) => name).filter((name) => !present.has(name));
}

const dependencyHint = 'run `slipway chart dependency build`, or put the missing charts into charts/';

function missingText(missing: readonly string[]): string {
  return `found in Chart.yaml, but missing in charts/ directory: ${missing.join(', ')}`;
}
