import type { Chart, ChartFile, ChartMetadata } from '../chart/chart.ts';
import { metadataJson } from '../chart/metadata-text.ts';
import { toPlain } from '../go/values.ts';
import type { RenderedChart } from '../render/render.ts';
import type { RecordedChart } from './release.ts';

/** The chart as a record stores it. Subcharts are not part of it, so the values are those after their imports, and only those that took part are named. */
export function recordedChart(
  chart: Chart,
  { chartValues, chartDependencies }: Pick<RenderedChart, 'chartValues' | 'chartDependencies'>,
): RecordedChart {
  return {
    metadata: recordedMetadata({ ...chart.metadata, dependencies: chartDependencies }),
    lock: chart.lock === undefined ? null : toPlain(chart.lock),
    templates: chart.templates.map(fileJson),
    values: chartValues,
    schema: chart.schema === undefined ? null : Buffer.from(chart.schema).toString('base64'),
    files: chart.files.map(fileJson),
  };
}

function fileJson({ name, data }: ChartFile): { name: string; data: string } {
  return { name, data: Buffer.from(data).toString('base64') };
}

function recordedMetadata(metadata: ChartMetadata): RecordedChart['metadata'] {
  const { dependencies = [], ...rest } = metadataJson(metadata) as { dependencies?: readonly object[] };
  const enabled = dependencies.map((dependency) => ({ ...dependency, enabled: true }));
  return {
    ...rest,
    ...(enabled.length > 0 ? { dependencies: enabled } : {}),
    name: metadata.name,
    version: metadata.version,
  };
}
