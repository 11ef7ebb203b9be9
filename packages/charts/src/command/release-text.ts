import type { KubeObject } from '@slipway/kube';

import { dialects } from '../chart/dialect.ts';
import { fromPlain, type GoMap, type Value } from '../go/values.ts';
import type { ServerTable } from '../release/live-objects.ts';
import { dryRunDescription } from '../release/dry-run.ts';
import { type HookJson, recordJson } from '../release/record.ts';
import type { Release } from '../release/release.ts';
import { coalesceValues } from '../values/coalesce.ts';
import { writeJson } from '../yaml/json.ts';
import { writeYaml } from '../yaml/write.ts';
import { ansiLayout, recordedTimeText } from './recorded-time.ts';
import { columnWidths } from './rows-text.ts';

export interface ReleaseTextOptions {
  /** Which chart it is. Default false. */
  readonly chart?: boolean;
  /** Values, hooks and objects. Default: the last two of a dry run. */
  readonly everything?: boolean;
  readonly hideNotes?: boolean;
  /** The objects as they are now. */
  readonly resources?: ReadonlyMap<string, readonly ServerTable[]>;
}

/** A release as Helm prints it. */
export function releaseText(release: Release, options: ReleaseTextOptions = {}): string {
  const { chart, everything = false, hideNotes = false, resources } = options;
  const { metadata } = release.chart;
  const lastDeployed = recordedTimeText(release.lastDeployed, ansiLayout);
  const lines = [
    `NAME: ${release.name}`,
    ...(lastDeployed === '' ? [] : [`LAST DEPLOYED: ${lastDeployed}`]),
    `NAMESPACE: ${release.namespace}`,
    `STATUS: ${release.status}`,
    `REVISION: ${release.revision}`,
    ...(chart
      ? [`CHART: ${metadata.name}`, `VERSION: ${metadata.version}`, `APP_VERSION: ${metadata.appVersion ?? ''}`]
      : []),
    `DESCRIPTION: ${release.description}`,
    ...(resources && resources.size > 0 ? ['RESOURCES:', resourcesText(resources)] : []),
    ...testLines(release),
    ...(everything
      ? [
          `USER-SUPPLIED VALUES:\n${writeYaml(suppliedValues(release))}`,
          `COMPUTED VALUES:\n${writeYaml(computedValues(release))}`,
        ]
      : []),
    ...(everything || release.description === dryRunDescription
      ? [`HOOKS:\n${hooksText(release)}MANIFEST:\n${release.manifest}`]
      : []),
  ];
  const notes = release.notes.trim();
  if (notes !== '' && !hideNotes) lines.push(`NOTES:\n${notes}`);
  return `${lines.join('\n')}\n`;
}

function testLines({ hooks }: Release): string[] {
  const tests = hooks.filter(({ events }) => events.includes('test'));
  if (tests.length === 0) return ['TEST SUITE: None'];
  const ran = tests.filter(
    ({ lastRun }) => lastRun !== undefined && recordedTimeText(lastRun.startedAt, '2006') !== '',
  );
  return ran.map(({ name, lastRun }) =>
    [
      `TEST SUITE:     ${name}`,
      `Last Started:   ${recordedTimeText(lastRun!.startedAt, ansiLayout)}`,
      // A time that is none, as Go prints it.
      `Last Completed: ${recordedTimeText(lastRun!.completedAt, ansiLayout) || 'Mon Jan  1 00:00:00 0001'}`,
      `Phase:          ${lastRun!.phase}`,
    ].join('\n'),
  );
}

/** Hooks as Helm prints them, one after the other. */
export function hooksText({ hooks }: Release): string {
  return hooks.map(({ path, manifest }) => `---\n# Source: ${path}\n${manifest}\n`).join('');
}

/** The user's values; null where there are none, as Helm has it. */
export function suppliedValues({ config }: Release): Value {
  return Object.keys(config).length === 0 ? null : fromPlain(config);
}

/** The user's values over those of the recorded chart. */
export function computedValues({ chart, config }: Release): Value {
  const node = { name: chart.metadata.name, values: fromPlain(chart.values ?? {}) as GoMap, children: [] };
  return coalesceValues(node, fromPlain(config) as GoMap, dialects.helm4);
}

/** Values as Helm's `-o json` and `-o yaml` have them: sorted. */
export function valuesText(values: Value, format: 'json' | 'yaml'): string {
  return format === 'json' ? `${writeJson(values)}\n` : writeYaml(values);
}

/** A record likewise: JSON has its fields in Helm's order. */
export function recordText(record: object, format: 'json' | 'yaml'): string {
  if (format === 'yaml') return writeYaml(fromPlain(record));
  const escapes: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };
  return `${JSON.stringify(record).replaceAll(/[<>&]/g, (mark) => escapes[mark]!)}\n`;
}

/** What `-o json` has of a release that was worked on: all but what may hold secrets, its values and its objects. */
export function releaseRecord(release: Release): object {
  return {
    name: release.name,
    info: {
      first_deployed: release.firstDeployed,
      last_deployed: release.lastDeployed,
      description: release.description,
      status: release.status,
      ...(release.notes ? { notes: release.notes } : {}),
    },
    chart: { metadata: release.chart.metadata },
    version: release.revision,
    namespace: release.namespace,
  };
}

/** The whole record but for the chart, with the objects as they are now, as `helm status -o json` has it. */
export function statusRecord(release: Release, resources: ReadonlyMap<string, readonly KubeObject[]>): object {
  const { name, chart: _chart, info = {}, config, manifest, hooks, ...rest } = recordJson(release);
  const { first_deployed, last_deployed, deleted, description, status, notes, ...others } = info;
  return {
    name,
    info: {
      first_deployed,
      last_deployed,
      ...(deleted ? { deleted } : {}),
      description,
      status,
      ...(notes ? { notes } : {}),
      ...(resources.size > 0 ? { resources: Object.fromEntries([...resources].sort(byKey)) } : {}),
      ...others,
    },
    ...(config ? { config } : {}),
    manifest,
    ...(hooks && hooks.length > 0 ? { hooks: hooks.map(hookRecord) } : {}),
    ...rest,
  };
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function hookRecord({ last_run: run = {}, events, ...hook }: HookJson): object {
  const { name, kind, path, manifest, ...others } = hook;
  return { name, kind, path, manifest, events, last_run: withoutEmpty(run), ...others };
}

function withoutEmpty({
  phase = '',
  ...times
}: {
  started_at?: string;
  completed_at?: string;
  phase?: string;
}): object {
  return { ...Object.fromEntries(Object.entries(times).filter(([, time]) => time !== '')), phase };
}

/** `shop-1.0.0`, as Helm names the chart of a release. */
export function chartText({ chart }: Release): string {
  return `${chart.metadata.name}-${chart.metadata.version}`;
}

/** Tables of the server as kubectl prints them, kind by kind. */
function resourcesText(resources: ReadonlyMap<string, readonly ServerTable[]>): string {
  return [...resources].map(([group, tables]) => `==> ${group}\n${kubectlTable(tables)}\n`).join('');
}

function kubectlTable(tables: readonly ServerTable[]): string {
  const columns = tables[0]!.columnDefinitions.flatMap(({ name, priority }, index) =>
    priority === 0 ? [{ name: name.toUpperCase(), index }] : [],
  );
  const rows = [
    columns.map(({ name }) => name),
    ...tables.flatMap((each) => each.rows.map(({ cells }) => columns.map(({ index }) => String(cells[index] ?? '')))),
  ];
  const widths = columnWidths(rows).map((width) => Math.max(6, width + 3));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('')
          .trimEnd()}\n`,
    )
    .join('');
}
