/**
 * Which Helm to be: `helm4` is 4.3, the default; `helm3` is 3.22, the last line of Helm 3.
 *
 * What they do differently, each with the version that changed it. `test/dialect-oracle.test.ts` asks both about every row.
 *
 * | switch | Helm 3 | Helm 4 | since |
 * |---|---|---|---|
 * | `chartIsMap` | an unknown field of `.Chart` is an error | it is empty | 4.0 |
 * | `lacksFunctions` | `mustToYaml`, `mustToToml` and those of durations are unknown | they are there | 4.0, 4.3 |
 * | `valuesDocuments` | values.yaml is its first document | all its documents, later ones over earlier ones | 4.0 |
 * | `valuesType` | `.Values` is a `chartutil.Values` | it is a `common.Values` | 4.0 |
 * | `webhooksInOrder` | webhook configurations come with the unknown kinds | they have a place in the order of kinds | 4.0 |
 * | `documentSeparator` | a `---` takes the blank lines around it along | only the rest of its line | 4.2 |
 * | `trimsDocuments` | blank lines at the end of a document are cut | they stay | 4.2 |
 * | `dropsDefaultNulls` | a null among a chart's defaults is a value | it is as if it were not written | 4.2 |
 */
export type Dialect = 'helm4' | 'helm3';

export interface DialectSwitches {
  readonly chartIsMap: boolean;
  readonly lacksFunctions: readonly string[];
  readonly valuesDocuments: 'all' | 'first';
  readonly valuesType: string;
  readonly webhooksInOrder: boolean;
  readonly documentSeparator: RegExp;
  readonly trimsDocuments: boolean;
  readonly dropsDefaultNulls: boolean;
  /** What `.Capabilities.HelmVersion.Version` says. */
  readonly helmVersion: string;
}

export const dialects: Readonly<Record<Dialect, DialectSwitches>> = {
  helm4: {
    chartIsMap: true,
    lacksFunctions: [],
    valuesDocuments: 'all',
    valuesType: 'common.Values',
    webhooksInOrder: true,
    documentSeparator: /^---[ \t]*/m,
    trimsDocuments: false,
    dropsDefaultNulls: true,
    helmVersion: 'v4.3.1',
  },
  helm3: {
    chartIsMap: false,
    lacksFunctions: [
      'mustToYaml',
      'mustToToml',
      'mustToDuration',
      'durationSeconds',
      'durationMilliseconds',
      'durationMicroseconds',
      'durationNanoseconds',
      'durationMinutes',
      'durationHours',
      'durationDays',
      'durationWeeks',
      'durationRoundTo',
      'durationTruncateTo',
    ],
    valuesDocuments: 'first',
    valuesType: 'chartutil.Values',
    webhooksInOrder: false,
    documentSeparator: /(?:^|\s*\n)---\s*/,
    trimsDocuments: true,
    dropsDefaultNulls: false,
    helmVersion: 'v3.22.0',
  },
};
