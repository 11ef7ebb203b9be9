import { ChartError } from '../chart/chart-error.ts';
import type { Chart, ChartFile } from '../chart/chart.ts';
import { loadFiles } from '../chart/load.ts';
import type { GoMap } from '../go/values.ts';
import { chartFileRules } from './chart-file-rules.ts';
import { definitionRules, dependencyRules } from './content-rules.ts';
import { Findings, type LintMessage } from './lint-message.ts';
import { templateRules } from './template-rules.ts';
import { valuesRules } from './values-rules.ts';

export interface LintOptions {
  /** The user's values. */
  readonly values: GoMap;
  readonly namespace: string;
  readonly kubeVersion?: string | undefined;
  readonly skipSchemaValidation?: boolean;
}

/** A chart that may be broken. */
export interface UncheckedChart {
  /** Where it is, for messages about all of it. */
  readonly path: string;
  readonly files: readonly ChartFile[];
  /** Its folders, empty ones too. */
  readonly folders: ReadonlySet<string>;
}

/** A chart as its rules see it. */
export interface LintedChart extends UncheckedChart {
  /** What came of loading it. */
  readonly chart: Chart | ChartError;
  readonly options: LintOptions;
}

/** Looks for mistakes in a chart, as `helm lint` does. */
export async function lintChart(source: UncheckedChart, options: LintOptions): Promise<LintMessage[]> {
  const findings = new Findings();
  const linted: LintedChart = { ...source, chart: await loaded(source.files), options };
  chartFileRules(findings, linted);
  valuesRules(findings, linted);
  await templateRules(findings, linted);
  dependencyRules(findings, linted);
  definitionRules(findings, linted);
  return findings.messages;
}

async function loaded(files: readonly ChartFile[]): Promise<Chart | ChartError> {
  try {
    return await loadFiles(files);
  } catch (error) {
    if (error instanceof ChartError) return error;
    throw error;
  }
}
