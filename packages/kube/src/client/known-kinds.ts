import type { Cache } from '../cache.ts';
import type { DiscoveredResource } from '../client.ts';
import { InputError } from '../input-error.ts';
import type { Kind } from '../kind.ts';
import type { DeepReadonly, KubeObject } from '../object.ts';
import type { Discovery } from './discovery.ts';

/** The kinds a client knows by name: those the program states, those it was called with, those of its cache, and what the server serves. */
export class KnownKinds {
  readonly #discovery: Discovery;
  readonly #cache: Pick<Cache, 'status'> | undefined;
  readonly #stated: ReadonlySet<Kind>;
  readonly #byName = new Map<string, Kind>();

  constructor(stated: Iterable<Kind>, discovery: Discovery, cache: Pick<Cache, 'status'> | undefined) {
    this.#discovery = discovery;
    this.#cache = cache;
    this.#stated = new Set(stated);
    for (const kind of this.#stated) this.learn(kind);
  }

  learn(kind: Kind): void {
    const name = nameOf(kind);
    // A kind with a schema knows more than one that only names it.
    if (!this.#byName.has(name) || 'definition' in kind) this.#byName.set(name, kind);
  }

  /** The server does not serve it any more. */
  forget(kind: Kind): void {
    this.#discovery.forget(kind);
    // What the program itself states stays; what the server once said may have changed.
    if (!this.#stated.has(kind) && !('definition' in kind)) this.#byName.delete(nameOf(kind));
  }

  /** Without asking the server. */
  find(object: Named): Kind | undefined {
    const name = nameOf(object);
    const known = this.#byName.get(name);
    if (known) return known;
    for (const { kind } of this.#cache?.status() ?? []) this.learn(kind);
    return this.#byName.get(name);
  }

  async resolve(apiVersion: string, kind: string, signal?: AbortSignal): Promise<Kind> {
    return this.find({ apiVersion, kind }) ?? toKind(await this.#discovery.resolve(apiVersion, kind, signal));
  }

  async resolveGroupKind(group: string, kind: string, signal?: AbortSignal): Promise<Kind> {
    const found = toKind(await this.#discovery.resolveGroupKind(group, kind, signal));
    return this.find(found) ?? found;
  }

  async ofObject(object: DeepReadonly<KubeObject>, signal?: AbortSignal): Promise<Kind> {
    if (!object.apiVersion || !object.kind)
      throw new InputError(
        'Object',
        `an object named "${object.metadata?.name ?? ''}" has no ${object.kind ? 'apiVersion' : 'kind'}`,
      );
    if (!object.metadata) throw new InputError('Object', `an object of kind ${object.kind} has no metadata`);
    return await this.resolve(object.apiVersion, object.kind, signal);
  }
}

interface Named {
  readonly apiVersion: string;
  readonly kind: string;
}

const nameOf = ({ apiVersion, kind }: Named): string => `${apiVersion}/${kind}`;

function toKind(resource: DiscoveredResource): Kind {
  const { group, version, kind, plural, scope } = resource;
  return { group, version, kind, plural, scope, apiVersion: group === '' ? version : `${group}/${version}` };
}
