import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import type { Chart } from '../chart/chart.ts';
import { RecentlyUsed } from '../go/recently-used.ts';
import type { RenderedChart, RenderOptions } from './render.ts';

const digests = new WeakMap<Chart, string>();

/** The same for charts of the same files. */
function digestOf(chart: Chart): string {
  let digest = digests.get(chart);
  if (digest === undefined) {
    const hash = createHash('sha256');
    for (const { name, data } of chart.raw) hash.update(`${name}\0${data.length}\0`).update(data);
    digests.set(chart, (digest = hash.digest('base64')));
  }
  return digest;
}

/**
 * Rendered charts by the hash of everything they depend on: the files of the chart, the values, the release, the capabilities. What used
 * the clock, chance or the cluster is not kept. Share one cache between renders to keep it warm; nobody changes what it gives.
 */
export class RenderCache {
  readonly #kept = new RecentlyUsed<RenderedChart>(64 * 1024 * 1024);
  #misses = 0;

  /** How often something had to be rendered. */
  get misses(): number {
    return this.#misses;
  }

  async render(
    chart: Chart,
    options: RenderOptions,
    render: (chart: Chart, options: RenderOptions) => Promise<RenderedChart>,
  ): Promise<RenderedChart> {
    const { cache: _self, clock: _clock, random: _random, randomBytes: _bytes, lookup: _lookup, ...input } = options;
    const { timeZone } = options;
    // Unlike JSON it tells an int from a float64.
    const text = serialize({ ...input, timeZone: typeof timeZone === 'function' ? timeZone() : timeZone });
    const key = createHash('sha256').update(digestOf(chart)).update(text).digest('base64');
    const known = this.#kept.get(key);
    if (known) return known;
    this.#misses += 1;
    const rendered = await render(chart, options);
    if (rendered.isPure) this.#kept.keep(key, rendered, text.length + sizeOf(rendered));
    return rendered;
  }
}

function sizeOf({ manifests, hooks, crds }: RenderedChart): number {
  const texts = [...manifests, ...hooks].reduce((size, { content }) => size + content.length, 0);
  return crds.reduce((size, { data }) => size + data.length, texts);
}
