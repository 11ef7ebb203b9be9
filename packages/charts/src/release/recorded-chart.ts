import type { Chart, ChartFile, ChartMetadata } from '../chart/chart.ts';
import { toPlain } from '../go/values.ts';
import type { RecordedChart } from './release.ts';

/** The chart as a record stores it. Subcharts are not part of it, so the values are those after their imports. */
export function recordedChart(chart: Chart, chartValues: Readonly<Record<string, unknown>>): RecordedChart {
  return {
    metadata: metadataJson(chart.metadata),
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

function metadataJson(metadata: ChartMetadata): RecordedChart['metadata'] {
  const { maintainers, dependencies, ...rest } = metadata;
  const present = withoutEmpty({
    ...rest,
    maintainers: maintainers.map(withoutEmpty),
    dependencies: dependencies.map(({ importValues, ...dependency }) =>
      withoutEmpty({ ...dependency, 'import-values': importValues, enabled: true }),
    ),
  });
  return { ...present, name: metadata.name, version: metadata.version };
}

/** Helm leaves out what is empty. */
function withoutEmpty(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === false || value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
