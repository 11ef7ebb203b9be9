import { createHash } from 'node:crypto';
import { RenderCache, type CapabilitiesOptions } from '@slipway/charts';

import type { Source } from '../../argo/application.ts';
import type { RenderedSource } from './render-source.ts';

/** Everything that decides what a source wants. */
export interface RenderInput {
  readonly commit: string;
  readonly source: Source;
  readonly release: { readonly name: string; readonly namespace: string };
  readonly capabilities: CapabilitiesOptions;
  /** The sources it takes values from: their names and commits. */
  readonly referred?: readonly string[];
}

interface Kept {
  readonly rendered: RenderedSource;
  readonly size: number;
}

/** About what the objects take; those of a large platform fit a few times. */
const usualSize = 64 * 1024 * 1024;

/**
 * What sources want, so that an Application whose commit, values and cluster stay is not rendered again, however often it is looked at.
 * Like Argo CD it keeps a commit's objects even where chance had a part in them: a chart that makes up a password would otherwise bring
 * another one with every look. Nobody changes what it gives. Losing it costs a render each.
 */
export class RenderedSources {
  /** Another commit with the same chart and values is no reason to render either. */
  readonly charts = new RenderCache();
  readonly #kept = new Map<string, Kept>();
  readonly #largest: number;
  #size = 0;

  /** @param largest how much is kept, in characters of JSON; whoever was not asked for longest goes first. */
  constructor(largest = usualSize) {
    this.#largest = largest;
  }

  get size(): number {
    return this.#size;
  }

  /** What `input` makes. With `isFresh` it is rendered in any case. */
  async of(input: RenderInput, isFresh: boolean, render: () => Promise<RenderedSource>): Promise<RenderedSource> {
    const { commit, source, release, capabilities, referred = [] } = input;
    const text = JSON.stringify([commit, source, release.name, release.namespace, capabilities, referred]);
    const key = createHash('sha256').update(text).digest('base64');
    const known = this.#kept.get(key);
    if (known && !isFresh) {
      // Last used, last dropped.
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known.rendered;
    }
    const rendered = await render();
    this.#keep(key, { rendered, size: JSON.stringify(rendered.objects).length });
    return rendered;
  }

  #keep(key: string, kept: Kept): void {
    this.#drop(key);
    this.#kept.set(key, kept);
    this.#size += kept.size;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#largest) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }
}
