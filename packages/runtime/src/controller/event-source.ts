import type { Clock, ObjectKey, Random } from '@slipway/kube';

import type { Logger } from '../log/logger.ts';
import type { ClusterView } from '../cluster/cluster-view.ts';

/** Something other than a watch that knows of keys to reconcile. */
export interface EventSource {
  /** For log lines. */
  readonly name: string;
  /** Starts handing keys to `emit`. The returned function, if any, ends it. */
  start(emit: EmitKey, context: EventSourceContext): void | (() => void);
}

export type EmitKey = (key: ObjectKey, options?: { priority?: number; afterMs?: number }) => void;

export interface EventSourceContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The cluster of the controller. */
  readonly cluster: ClusterView;
  /** Aborts when the controller stops. */
  readonly signal: AbortSignal;
}

/** A source that is fed by hand: `push` from anywhere in the program. Keys pushed before the controller starts are kept. */
export class ChannelSource implements EventSource {
  readonly name: string;
  readonly #kept: ObjectKey[] = [];
  readonly #listeners = new Set<EmitKey>();

  constructor(name = 'channel') {
    this.name = name;
  }

  push(key: ObjectKey): void {
    if (this.#listeners.size === 0) this.#kept.push(key);
    for (const emit of this.#listeners) emit(key);
  }

  start(emit: EmitKey): () => void {
    this.#listeners.add(emit);
    for (const key of this.#kept.splice(0)) emit(key);
    return () => void this.#listeners.delete(emit);
  }
}

export interface TimerSourceOptions {
  /** Default `timer`. */
  name?: string;
  /** Milliseconds between two rounds; the first is after one interval. */
  everyMs: number;
  /** The keys of a round. */
  keys: (context: EventSourceContext) => readonly ObjectKey[] | Promise<readonly ObjectKey[]>;
}

/** Hands out keys at a fixed interval. A round that fails is logged; the next comes all the same. */
export function timerSource(options: TimerSourceOptions): EventSource {
  const { name = 'timer', everyMs, keys } = options;
  if (!(everyMs > 0)) throw new RangeError(`timerSource '${name}': everyMs must be above 0, not ${everyMs}`);
  return {
    name,
    start(emit, context) {
      let stopped = false;
      let timer = context.clock.schedule(everyMs, tick);
      function tick(): void {
        if (stopped) return;
        timer = context.clock.schedule(everyMs, tick);
        void round();
      }
      async function round(): Promise<void> {
        try {
          const found = await keys(context);
          if (!stopped) for (const key of found) emit(key);
        } catch (error) {
          context.log.error('event source failed', { source: name, error });
        }
      }
      return () => {
        stopped = true;
        timer.cancel();
      };
    },
  };
}
