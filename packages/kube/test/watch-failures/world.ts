import { VirtualClock } from '@slipway/testing/virtual-clock';

import type { CacheEvent } from '../../src/cache.ts';
import { createCache, type CacheOptions } from '../../src/cache/create-cache.ts';
import type { Kind } from '../../src/kind.ts';
import { keyText, type KubeObject } from '../../src/object.ts';
import { seededRandom } from '../../src/random.ts';
import { FaultyServer } from '../faulty-server/faulty-server.ts';
import { MemoryTransport } from '../faulty-server/memory-wire.ts';

export interface WidgetObject extends KubeObject {
  spec: { size: number; note?: string };
}

export const Widget: Kind<WidgetObject> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
  apiVersion: 'example.com/v1',
};

export const Pod: Kind = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
  apiVersion: 'v1',
};

export const Secret: Kind = { ...Pod, kind: 'Secret', plural: 'secrets' };

/** A cache, a server that can go wrong and a clock that stands still, wired together. */
export function makeWorld(options: Partial<CacheOptions> = {}) {
  const clock = new VirtualClock();
  const server = new FaultyServer(clock);
  server.serve(Widget);
  server.serve(Pod);
  server.serve(Secret);
  const transport = new MemoryTransport(server);
  const warnings: string[] = [];
  const cache = createCache({
    transport,
    clock,
    random: seededRandom(1),
    log: {
      debug: () => {},
      warn: (message, fields) => warnings.push(`${message} ${JSON.stringify(fields)}`),
      error: (message, fields) => warnings.push(`${message} ${String(fields?.['error'])}`),
    },
    ...options,
  });
  const informer = cache.informer(Widget);
  return {
    clock,
    server,
    transport,
    cache,
    informer,
    warnings,
    async start() {
      cache.start();
      await clock.runUntil(() => informer.synced);
    },
    /** Names and sizes of the cached widgets. */
    async contents(): Promise<Record<string, number>> {
      const objects = await cache.list(Widget);
      return Object.fromEntries(
        objects.map((object) => [keyText(object.metadata as { name: string }), object.spec.size]),
      );
    },
    status() {
      return cache.status().find(({ kind }) => kind.kind === 'Widget')!;
    },
    async [Symbol.asyncDispose]() {
      await cache.stop();
    },
  };
}

/** A line per event, for comparing. */
export function recordEvents(informer: {
  onEvent(handler: (event: CacheEvent<WidgetObject>) => void): () => void;
}): string[] {
  const lines: string[] = [];
  informer.onEvent((event) => {
    const marks = `${event.initial ? ' initial' : ''}${event.tombstone ? ' tombstone' : ''}`;
    lines.push(`${event.type} ${keyText(event.key)}${marks}`);
  });
  return lines;
}
