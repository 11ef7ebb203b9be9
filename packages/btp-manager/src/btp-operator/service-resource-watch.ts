import type { ObjectKey } from '@slipway/kube';
import type { EmitKey, EventSource, EventSourceContext } from '@slipway/runtime';

import { BtpOperator, ServiceBinding, ServiceInstance } from '../api.ts';

/**
 * Wakes a BtpOperator that is being deleted whenever a service instance or binding goes, so that the deletion goes on at once.
 * Their kinds exist only while the module is installed, so the watch begins when a reconciler says so.
 */
export class ServiceResourceWatch implements EventSource {
  readonly name = 'service-resources';
  readonly #running = new Map<EventSourceContext, { emit: EmitKey; stops: (() => void)[] }>();
  #following = false;

  /** The kinds are served: watch them from now on. */
  follow(): void {
    if (this.#following) return;
    this.#following = true;
    for (const context of this.#running.keys()) this.#watch(context);
  }

  start(emit: EmitKey, context: EventSourceContext): () => void {
    this.#running.set(context, { emit, stops: [] });
    if (this.#following) this.#watch(context);
    return () => {
      for (const stop of this.#running.get(context)?.stops ?? []) stop();
      this.#running.delete(context);
    };
  }

  #watch(context: EventSourceContext): void {
    const run = this.#running.get(context)!;
    for (const kind of [ServiceInstance, ServiceBinding]) {
      const informer = context.cluster.cache.informer(kind, { metadataOnly: true, view: 'btp-manager' });
      run.stops.push(
        informer.onEvent((event) => {
          if (event.type !== 'deleted') return;
          terminating(context).then(
            (keys) => keys.forEach((key) => run.emit(key)),
            (error: unknown) => context.log.warn('a deleted service resource was not noticed', { error }),
          );
        }),
      );
    }
  }
}

async function terminating({ cluster }: EventSourceContext): Promise<ObjectKey[]> {
  const all = await cluster.cache.list(BtpOperator);
  return all
    .filter((btp) => btp.metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => ({ namespace: metadata.namespace!, name: metadata.name! }));
}
