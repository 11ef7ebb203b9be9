import type { Chart } from '../chart/chart.ts';
import { mergeMaps } from '../chart/merge-maps.ts';
import { fromPlain, type GoMap } from '../go/values.ts';
import type { UserValues } from '../render/render.ts';
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
      return { chart: withDefaults(chart, base), values: over(base, given) };
    case 'reset-then-reuse':
      return { chart, values: over(base, given) };
    case 'default':
      return { chart, values: given.size === 0 ? base.config : given };
  }
}

function over(base: Release, given: GoMap): GoMap {
  return mergeMaps(fromPlain(base.config) as GoMap, given);
}

/** The new chart with the defaults of the one that is deployed: what was left to its defaults stays as it is. */
function withDefaults(chart: Chart, base: Release): Chart {
  return { ...chart, values: fromPlain(base.chart.values ?? {}) as GoMap };
}
