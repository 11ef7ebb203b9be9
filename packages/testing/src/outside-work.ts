import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Transport } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';

/** One reconciliation that is running. */
interface Work {
  /** How many things it waits for that only (virtual) time brings. */
  waits: number;
}

const works = new AsyncLocalStorage<Work>();

/**
 * The caller waits for something that needs time to pass, until it calls what it gets. Outside of a reconciliation it changes nothing.
 */
export function waitsForTime(): () => void {
  const work = works.getStore();
  if (!work) return () => undefined;
  work.waits += 1;
  let over = false;
  return () => {
    if (!over) work.waits -= 1;
    over = true;
  };
}

/** Begins something that is no part of the reconciliation that begins it: its timers are none that reconciliation waits for. */
export function apartFromWork<T>(begin: () => T): T {
  return works.exit(begin);
}

/**
 * Work outside of virtual time: reconciliations that read files or run processes. While one of them waits for nothing that time
 * would bring, time stands still, however long the machine takes.
 */
export class OutsideWork {
  readonly #running = new Set<Work>();

  /** The same controllers, but time waits for their reconciliations. */
  around(controllers: readonly Controller[]): Controller[] {
    return controllers.map((controller) => ({
      ...controller,
      reconcile: (context, key) => this.#during(async () => await controller.reconcile(context, key)),
    }));
  }

  /** What the server does for a request is the server's: the timers it sets are none the reconciliation waits for. */
  leaving(transport: Transport): Transport {
    return {
      send: (request, signal) => works.exit(() => transport.send(request, signal)),
      open: (request, handler) => works.exit(() => transport.open(request, handler)),
      close: () => transport.close(),
    };
  }

  /** Resolves when everything that runs waits for time. */
  async rests(): Promise<void> {
    while ([...this.#running].some(({ waits }) => waits === 0)) await wait(1);
  }

  async #during<T>(reconcile: () => Promise<T>): Promise<T> {
    const work: Work = { waits: 0 };
    this.#running.add(work);
    try {
      return await works.run(work, reconcile);
    } finally {
      this.#running.delete(work);
    }
  }
}
