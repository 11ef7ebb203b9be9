import { type Client, type Clock, type DeleteOptions, isNotFound, sleep } from '@slipway/kube';

import { objectText, type ReleaseObject } from './objects.ts';
import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';
import { ReleaseStorage } from './storage.ts';

/** What a release is worked on with. */
export interface ReleaseContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Told what happens, for a person who waits. Default: nobody. */
  readonly progress?: (event: ReleaseProgress) => void;
}

export type ReleaseProgress =
  | { readonly type: 'phase'; readonly text: string }
  | { readonly type: 'applied' | 'deleted' | 'hook' | 'ready'; readonly object: string }
  | { readonly type: 'waiting'; readonly object: string; readonly message: string };

/** One piece of work on one release. */
export class Operation {
  readonly context: ReleaseContext;
  readonly storage: ReleaseStorage;
  /** Epoch milliseconds. */
  readonly deadline: number;

  constructor(context: ReleaseContext, timeoutMs: number) {
    this.context = context;
    this.storage = new ReleaseStorage(context.client, () => context.clock.now());
    this.deadline = context.clock.now() + timeoutMs;
  }

  get client(): Client {
    return this.context.client;
  }

  now(): string {
    return new Date(this.context.clock.now()).toISOString();
  }

  say(event: ReleaseProgress): void {
    this.context.progress?.(event);
  }

  /** Looks again every second until `check` answers nothing, or time is up. It answers what it waits for. */
  async until(check: () => Promise<{ readonly object: string; readonly message: string } | undefined>): Promise<void> {
    let said = '';
    for (;;) {
      this.context.signal?.throwIfAborted();
      const waiting = await check();
      if (waiting === undefined) return;
      if (this.context.clock.now() >= this.deadline) {
        throw new ReleaseError('TimedOut', `${waiting.object}: ${waiting.message}`, {
          hint: 'give it more time with --timeout, or look at the object',
        });
      }
      const text = `${waiting.object}: ${waiting.message}`;
      if (text !== said) this.say({ type: 'waiting', ...waiting });
      said = text;
      await sleep(this.context.clock, 500, this.context.signal);
    }
  }

  /** Deletes an object and, when asked, waits until it is gone. */
  async remove(
    each: ReleaseObject,
    wait: boolean,
    propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']> = 'Background',
  ): Promise<void> {
    const { name, namespace } = each.object.metadata;
    const key = { name: name!, namespace };
    try {
      await this.client.delete(each.kind, key, { propagationPolicy });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    if (wait) {
      await this.until(async () =>
        (await this.client.get(each.kind, key)) === undefined
          ? undefined
          : { object: objectText(each), message: 'it is still being deleted' },
      );
    }
    this.say({ type: 'deleted', object: objectText(each) });
  }

  /** Runs work on a stored revision and says now and then that it goes on, so that a revision whose worker died can be told from one at work. */
  async heartbeat<T>(release: Release, work: () => Promise<T>): Promise<T> {
    const { clock } = this.context;
    let ended = false;
    let timer = clock.schedule(heartbeatMs, beat);
    const storage = this.storage;
    function beat(): void {
      if (ended) return;
      timer = clock.schedule(heartbeatMs, beat);
      // A beat that is lost does no harm; the next one counts.
      storage.touch(release).catch(() => undefined);
    }
    try {
      return await work();
    } finally {
      ended = true;
      timer.cancel();
    }
  }
}

const heartbeatMs = 15_000;

/** A pending revision nobody has touched for this long belongs to a process that died. Helm itself gives up after five minutes by default. */
export const abandonedAfterMs = 600_000;
