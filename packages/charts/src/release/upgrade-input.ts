import { chartNode } from '../chart/chart-node.ts';
import type { Chart } from '../chart/chart.ts';
import { dialects } from '../chart/dialect.ts';
import { fromPlain, type GoMap } from '../go/values.ts';
import type { UserValues } from '../render/render.ts';
import { coalesceTables, coalesceValues } from '../values/coalesce.ts';
import type { PrepareInput } from './prepare.ts';
import type { Release } from './release.ts';
import type { UpgradeOptions } from './upgrade.ts';

/** What an upgrade from `base` renders: the chart, with the defaults that count, and the user's values. */
export function upgradeInput(
  base: Release,
  chart: Chart,
  { values = {}, valuesFrom = 'default' }: Pick<UpgradeOptions, 'values' | 'valuesFrom'>,
): { readonly chart: Chart; readonly values: UserValues } {
  const given = fromPlain(values) as GoMap;
  switch (valuesFrom) {
    case 'reset':
      return { chart, values: given };
    case 'reuse':
      return { chart: withValuesOf(chart, base), values: over(base, given) };
    case 'reset-then-reuse':
      return { chart, values: over(base, given) };
    case 'default':
      return { chart, values: given.size === 0 ? base.config : given };
  }
}

/** What the record of an upgrade is made of: from `base`, which is deployed, to the revision after `last`. */
export function upgradePreparation(base: Release, last: Release, chart: Chart, options: UpgradeOptions): PrepareInput {
  return {
    ...upgradeInput(base, chart, options),
    name: options.name,
    namespace: options.namespace,
    revision: last.revision + 1,
    isUpgrade: true,
    labels: upgradedLabels(last, options),
    firstDeployed: base.firstDeployed,
    skipSchemaValidation: options.skipSchemaValidation,
    subNotes: options.subNotes,
  };
}

/** Labels of the last revision, whether it went well or not, with the given over them; the word `null` takes one off. */
function upgradedLabels(last: Release, { labels }: Pick<UpgradeOptions, 'labels'>): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...last.labels, ...labels }).filter(([, value]) => value !== 'null'));
}

/** As with Helm a null takes off what the user said before, and leaves the default. */
function over(base: Release, given: GoMap): GoMap {
  return coalesceTables(fromPlain(given) as GoMap, fromPlain(base.config) as GoMap, false);
}

/** The new chart with all values of the one that is deployed as its defaults: what nobody changes stays as it is. */
function withValuesOf(chart: Chart, base: Release): Chart {
  const defaults = fromPlain(base.chart.values ?? {}) as GoMap;
  // A record has no subcharts.
  const last = chartNode({ ...chart, values: defaults, dependencies: [] });
  return { ...chart, values: coalesceValues(last, fromPlain(base.config) as GoMap, dialects.helm4) };
}
