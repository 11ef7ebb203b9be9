import { jsonEqual, type CacheEvent, type ObjectKey } from '@slipway/kube';
import type { EmitKey, EventSource, EventSourceContext } from '@slipway/runtime';

import { Application } from '../argo/application.ts';
import { names } from '../names.ts';

interface Run {
  readonly emit: EmitKey;
  readonly context: EventSourceContext;
  stop?: () => void;
}

/** Applications as they change, from the moment the cluster knows the kind: a controller that is `for` it would not start without. */
export class ApplicationWatch implements EventSource {
  readonly name = 'applications';
  readonly #runs = new Set<Run>();
  readonly #known = new Map<string, ObjectKey>();

  /** The cluster serves the kind. */
  follow(): void {
    for (const run of this.#runs) this.#watch(run);
  }

  /** Looks at all of them again. */
  wakeAll(): void {
    for (const run of this.#runs) for (const key of this.#known.values()) run.emit(key);
  }

  start(emit: EmitKey, context: EventSourceContext): () => void {
    const run: Run = { emit, context };
    this.#runs.add(run);
    return () => {
      this.#runs.delete(run);
      run.stop?.();
    };
  }

  #watch(run: Run): void {
    if (run.stop) return;
    const informer = run.context.cluster.cache.informer(Application, { namespaces: [names.argoNamespace] });
    run.stop = informer.onEvent((event) => {
      const id = event.key.name;
      if (event.type === 'deleted') this.#known.delete(id);
      else this.#known.set(id, event.key);
      if (concernsUs(event)) run.emit(event.key);
    });
  }
}

/** Without a status subresource every write of ours is an event: one that changes the status alone says nothing new. */
function concernsUs(event: CacheEvent<Application>): boolean {
  const { object, old } = event;
  if (event.type !== 'updated' || old === undefined) return event.type !== 'deleted';
  const wish = ({ spec, operation, metadata }: typeof object) => ({
    spec,
    operation,
    annotations: metadata.annotations,
    finalizers: metadata.finalizers,
    deletionTimestamp: metadata.deletionTimestamp,
  });
  return !jsonEqual(wish(object), wish(old));
}
