import type { DeepReadonly, KubeObject } from '@slipway/kube';
import { createHash } from 'node:crypto';

interface Known {
  readonly version: string | undefined;
  readonly config: string;
  readonly content: string;
}

/**
 * What this process knows the server to have answered "nothing to do" to: a live state and a configuration. Saves asking again
 * about objects whose values the server normalises. A move of the status alone is no other state. Only a saving: losing it
 * costs a request each, never a wrong result.
 */
export class AppliedMemo {
  readonly #known = new Map<string, Known>();
  readonly #capacity: number;

  /** @param capacity entries kept, oldest forgotten first. Default 50 000 (about 250 bytes each). */
  constructor(capacity = 50_000) {
    this.#capacity = capacity;
  }

  knows(live: DeepReadonly<KubeObject>, config: DeepReadonly<KubeObject>, manager: string): boolean {
    const known = this.#known.get(memoKey(live, manager));
    if (!known || known.config !== digest(config)) return false;
    return known.version === live.metadata.resourceVersion || known.content === contentOf(live, config);
  }

  remember(live: DeepReadonly<KubeObject>, config: DeepReadonly<KubeObject>, manager: string): void {
    const key = memoKey(live, manager);
    this.#known.delete(key);
    this.#known.set(key, {
      version: live.metadata.resourceVersion,
      config: digest(config),
      content: contentOf(live, config),
    });
    if (this.#known.size > this.#capacity) this.#known.delete(this.#known.keys().next().value!);
  }
}

function memoKey(live: DeepReadonly<KubeObject>, manager: string): string {
  return `${live.metadata.uid}/${manager}`;
}

/** Everything an apply looks at: not the status, unless the configuration has one, nor who wrote it. */
function contentOf(live: DeepReadonly<KubeObject>, config: DeepReadonly<KubeObject>): string {
  const { resourceVersion: _version, managedFields, ...metadata } = live.metadata;
  const owners = managedFields?.filter((entry) => !entry.subresource);
  return digest({
    ...live,
    status: config['status'] === undefined ? undefined : live['status'],
    metadata: { ...metadata, managedFields: owners },
  });
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}
