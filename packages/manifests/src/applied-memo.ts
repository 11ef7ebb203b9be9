import type { DeepReadonly, KubeObject } from '@slipway/kube';
import { createHash } from 'node:crypto';

/**
 * What this process knows the server to have answered "nothing to do" to: the pair of a live state (uid and resourceVersion)
 * and a configuration. Saves asking again about objects whose values the server normalises. Only a saving: losing it costs a
 * request each, never a wrong result.
 */
export class AppliedMemo {
  readonly #known = new Map<string, string>();
  readonly #capacity: number;

  /** @param capacity entries kept, oldest forgotten first. Default 50 000 (about 150 bytes each). */
  constructor(capacity = 50_000) {
    this.#capacity = capacity;
  }

  knows(live: DeepReadonly<KubeObject>, config: DeepReadonly<KubeObject>, manager: string): boolean {
    return this.#known.get(memoKey(live, manager)) === memoValue(live, config);
  }

  remember(live: DeepReadonly<KubeObject>, config: DeepReadonly<KubeObject>, manager: string): void {
    const key = memoKey(live, manager);
    this.#known.delete(key);
    this.#known.set(key, memoValue(live, config));
    if (this.#known.size > this.#capacity) this.#known.delete(this.#known.keys().next().value!);
  }
}

function memoKey(live: DeepReadonly<KubeObject>, manager: string): string {
  return `${live.metadata.uid}/${manager}`;
}

function memoValue(live: DeepReadonly<KubeObject>, config: DeepReadonly<KubeObject>): string {
  return `${live.metadata.resourceVersion}/${createHash('sha256').update(JSON.stringify(config)).digest('base64url')}`;
}
