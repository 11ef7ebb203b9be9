import { ChartError } from './chart-error.ts';
import type { Chart } from './chart.ts';

/** Refuses what Helm does not install: a library, and a chart whose `charts/` lacks what Chart.yaml names. */
export function checkInstallable(chart: Chart): void {
  if (chart.metadata.type === 'library') throw new ChartError('InvalidChart', 'library charts are not installable');
  const present = new Set(chart.dependencies.map((dependency) => dependency.metadata.name));
  const missing = chart.metadata.dependencies.map(({ name }) => name).filter((name) => !present.has(name));
  if (missing.length > 0)
    throw new ChartError(
      'InvalidChart',
      `an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: ${missing.join(', ')}`,
      { hint: 'run `slipway chart dependency build`, or put the missing charts into charts/' },
    );
}
