import {
  type Client,
  type Clock,
  type DeleteOptions,
  isForbidden,
  isInvalid,
  isNotFound,
  isTransient,
  KubeError,
  type KubeObject,
  sleep,
} from '@slipway/kube';

import { objectText, type ReleaseObject } from './objects.ts';
import { mayPass } from './refusal.ts';
import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';
import { ReleaseStorage } from './storage.ts';

/** What becomes of what a deleted object owns. */
export type PropagationPolicy = NonNullable<DeleteOptions['propagationPolicy']>;

/** What a release is worked on with. */
export interface ReleaseContext {
  readonly client: Client;
  readonly clock: Clock;
  /** The zone templates tell times in, or how to find out when one asks. Default `UTC`. */
  readonly timeZone?: string | (() => string);
  /** Ends the work; the revision is marked as failed. Default: nothing ends it. */
  readonly signal?: AbortSignal;
  /** Told what happens, for a person who waits. Default: nobody. */
  readonly progress?: (event: ReleaseProgress) => void;
}

/** Something that happened, or that is waited for. `object` is such as `Deployment shop/web`. */
export type ReleaseProgress =
  | { readonly type: 'phase'; readonly text: string }
  | { readonly type: 'applied' | 'deleted' | 'hook' | 'ready'; readonly object: string }
  | ({ readonly type: 'waiting'; readonly waitedMs: number } & Waiting);

/** What somebody waits for. */
interface Waiting {
  readonly object: string;
  readonly message: string;
  /** What else, in words. */
  readonly others?: readonly string[];
}

/** One piece of work on one release. */
export class Operation {
  readonly context: ReleaseContext;
  readonly storage: ReleaseStorage;
  readonly #timeoutMs: number;
  #held: HeldRevision | undefined;

  /** @param timeoutMs how long each wait may take: for a hook, or for all objects. Default 300 000. */
  constructor(context: ReleaseContext, timeoutMs = 300_000) {
    this.context = context;
    this.storage = new ReleaseStorage(context.client, () => context.clock.now());
    this.#timeoutMs = timeoutMs;
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

  /** Looks again and again until `check` answers nothing, or time is up. It answers what it waits for. A server that is away for a moment is waited for, too. */
  async until(check: () => Promise<Waiting | undefined>): Promise<void> {
    const { clock, signal } = this.context;
    const startedAt = clock.monotonic();
    let said = { text: '', at: startedAt };
    for (;;) {
      const waiting = await check().catch((error: unknown): Waiting => {
        if (!isTransient(error)) throw error;
        return { object: 'the API server', message: error.message };
      });
      if (waiting === undefined) return;
      const text = [`${waiting.object}: ${waiting.message}`, ...(waiting.others ?? [])].join('; ');
      this.#unlessInterrupted(`waiting for ${text}`);
      const now = clock.monotonic();
      if (now - startedAt >= this.#timeoutMs) {
        throw new ReleaseError('TimedOut', text, { hint: 'give it more time with --timeout, or look at the object' });
      }
      if (text !== said.text || now - said.at >= stillWaitingMs) {
        this.say({ type: 'waiting', waitedMs: now - startedAt, ...waiting });
        said = { text, at: now };
      }
      // Who interrupts it is heard at once. A script that waits for it does not end meanwhile.
      await sleep(clock, 500, signal, { holds: true }).catch(() => undefined);
    }
  }

  /** Writes an object under Helm's name. */
  async apply(object: KubeObject, { force }: { readonly force: boolean }): Promise<KubeObject> {
    return await this.write(
      async () => await this.client.apply(object, { fieldManager: 'helm', force, fieldValidation: 'Strict' }),
    );
  }

  /** Deletes an object and, when asked, waits until it is gone. */
  async remove(each: ReleaseObject, wait: boolean, propagationPolicy: PropagationPolicy = 'Background'): Promise<void> {
    const { name, namespace } = each.object.metadata;
    let wasThere = false;
    await this.write(async () => {
      try {
        wasThere =
          (await this.client.delete(each.kind, { name: name!, namespace }, { propagationPolicy })) !== undefined;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    });
    if (!wasThere) return;
    if (wait) await this.untilGone([each]);
    this.say({ type: 'deleted', object: objectText(each) });
  }

  async untilGone(objects: readonly ReleaseObject[]): Promise<void> {
    const left = [...objects];
    await this.until(async () => {
      for (let each = left[0]; each !== undefined; each = left[0]) {
        const { name, namespace } = each.object.metadata;
        const present = await this.client.get(each.kind, { name: name!, namespace });
        if (present !== undefined) return { object: objectText(each), message: 'it is still being deleted' };
        left.shift();
      }
      return undefined;
    });
  }

  /** Does what does no harm when it is done twice, as long as that is this process's to do. */
  async write<T>(work: () => Promise<T>): Promise<T> {
    return await this.insist(async () => {
      this.#unlessInterrupted('writing');
      await this.stillOurs();
      return await work();
    }, mayPass);
  }

  get isInterrupted(): boolean {
    return this.context.signal?.aborted ?? false;
  }

  /** For what undoes the work: who gave up wants it undone. */
  get uninterrupted(): ReleaseContext {
    return { ...this.context, signal: undefined };
  }

  #unlessInterrupted(what: string): void {
    if (!this.isInterrupted) return;
    throw new ReleaseError('Interrupted', `interrupted while ${what}`, {
      hint: 'slipway chart history shows how far it came',
    });
  }

  /**
   * Runs work on a stored revision and says now and then that it goes on, so that a revision whose worker died can be told from one at work. The revision is
   * held meanwhile: whoever finds it settled or removed by somebody else writes no more.
   */
  async heartbeat<T>(release: Release, work: () => Promise<T>): Promise<T> {
    this.#held = { release, signOfLife: this.context.clock.now(), isLost: false, isWriting: false };
    try {
      return await this.#beating(this.#held, work);
    } finally {
      this.#held = undefined;
    }
  }

  /** The same for a release that goes: several may remove it at once, and none gives up because another was first. */
  async alive<T>(release: Release, work: () => Promise<T>): Promise<T> {
    return await this.#beating({ release, signOfLife: 0, isLost: false, isWriting: false }, work);
  }

  async #beating<T>(held: HeldRevision, work: () => Promise<T>): Promise<T> {
    const { clock } = this.context;
    const beat = (): void => {
      timer = clock.schedule(heartbeatMs, beat);
      // A beat that is lost does no harm; the next one counts.
      if (!held.isLost) this.#renew(held).catch(() => undefined);
    };
    let timer = clock.schedule(heartbeatMs, beat);
    try {
      return await work();
    } finally {
      timer.cancel();
    }
  }

  /** Whether somebody else settled or removed the revision this works on. */
  get isOvertaken(): boolean {
    return this.#held?.isLost ?? false;
  }

  /** Throws when the revision this works on is no longer its own. Who slept for long asks the record; else the last beat will do. */
  async stillOurs({ fresh = false }: { readonly fresh?: boolean } = {}): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    const silent = this.context.clock.now() - held.signOfLife;
    if (!held.isLost && (fresh || silent > 3 * heartbeatMs)) await this.insist(async () => await this.#renew(held));
    if (held.isLost) throw overtaken(held.release);
  }

  /** Writes the revision this works on. */
  async record(release: Release): Promise<void> {
    const held = this.#held;
    if (held === undefined) {
      await this.insist(async () => await this.storage.update(release));
      return;
    }
    if (held.isLost) throw overtaken(held.release);
    // No beat meanwhile: it would be about the one or the other.
    held.isWriting = true;
    try {
      held.isLost = !(await this.insist(async () => await this.storage.updateHeld(held.release, release)));
      held.release = release;
    } finally {
      held.isWriting = false;
    }
    if (held.isLost) throw overtaken(release);
  }

  /** A record that is not written blocks the release for ten minutes, and an object fails it: a server that is away for a moment is asked again. */
  async insist<T>(write: () => Promise<T>, isWorthIt = isNotFinal): Promise<T> {
    for (const delayMs of retriesMs) {
      try {
        return await write();
      } catch (error) {
        if (!isWorthIt(error)) throw error;
        await sleep(this.context.clock, delayMs, this.context.signal, { holds: true }).catch(() => undefined);
      }
    }
    return await write();
  }

  async #renew(held: HeldRevision): Promise<void> {
    if (held.isWriting) return;
    const at = this.context.clock.now();
    const { release } = held;
    const isOurs = await this.storage.updateHeld(release);
    if (isOurs) held.signOfLife = at;
    // What was written meanwhile is no longer what the beat was about.
    else if (!held.isWriting && held.release === release) held.isLost = true;
  }
}

/** A revision this process works on. */
interface HeldRevision {
  release: Release;
  /** When the last sign of life that arrived was sent, in epoch milliseconds. */
  signOfLife: number;
  isLost: boolean;
  isWriting: boolean;
}

function overtaken({ name, revision }: Release): ReleaseError {
  return new ReleaseError(
    'Busy',
    `somebody else settled or removed revision ${revision} of release ${name} while this worked on it`,
    { hint: 'slipway chart history shows what became of it; then try again' },
  );
}

function isNotFinal(error: unknown): boolean {
  return error instanceof KubeError && !isInvalid(error) && !isForbidden(error);
}

/** A person who hears nothing for longer thinks that it hangs. */
const stillWaitingMs = 30_000;
const heartbeatMs = 15_000;
const retriesMs = [100, 1_000, 5_000];

/** A pending revision nobody has touched for this long belongs to a process that died. Helm itself gives up after five minutes by default. */
export const abandonedAfterMs = 600_000;
