import { parseExactly } from '../big-integer.ts';
import type { ApiObject } from '../object.ts';

/** One stored object at one revision. Nothing in it ever changes, except how it is kept and that encodings are remembered. */
export class Entry {
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  readonly key: string;
  readonly revision: number;
  /** As JSON once it belongs to the past. */
  #content: ApiObject | string;
  #encodings: Map<string, unknown> | undefined;

  constructor(key: string, object: ApiObject, revision: number) {
    this.key = key;
    this.#content = object;
    this.revision = revision;
  }

  /** In the storage version, with kind, apiVersion and resourceVersion. */
  get object(): ApiObject {
    return typeof this.#content === 'string' ? (parseExactly(this.#content) as unknown as ApiObject) : this.#content;
  }

  /** Remembers what `make` returns for `representation`, so that an object is encoded once for all its readers. */
  cached<T>(representation: string, make: (entry: Entry) => T): T {
    this.#encodings ??= new Map();
    let value = this.#encodings.get(representation) as T | undefined;
    if (value === undefined) {
      value = make(this);
      this.#encodings.set(representation, value);
      // A failure (of a conversion webhook) is not worth remembering.
      if (value instanceof Promise) value.catch(() => this.#encodings?.delete(representation));
    }
    return value;
  }

  has(representation: string): boolean {
    return this.#encodings?.has(representation) ?? false;
  }

  /** Keeps it in as little memory as possible: history holds many entries, and old ones are hardly ever read again. */
  archive(): void {
    if (typeof this.#content !== 'string') this.#content = JSON.stringify(this.#content);
    this.#encodings = undefined;
  }
}

/** The key of an object in its table. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** The namespace in a key; empty for cluster-scoped objects. */
export function namespaceOfKey(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}
