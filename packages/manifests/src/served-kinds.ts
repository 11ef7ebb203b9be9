import { isUnknownKind, type Client, type Kind, type KubeObject } from '@slipway/kube';

import { refOf } from './identity.ts';
import type { MemberResult } from './member-result.ts';
import { refusalText, refusedMember } from './refusal.ts';

/** Which resources serve the objects of a set: as the server says, and as definitions in the set itself will have it. */
export class ServedKinds {
  readonly #client: Client;
  readonly #signal: AbortSignal | undefined;
  readonly #known = new Map<string, Kind>();
  readonly #errors = new Map<string, unknown>();
  readonly #defined: ReadonlyMap<string, Kind>;

  constructor(client: Client, set: readonly KubeObject[], signal?: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
    this.#defined = kindsDefinedBy(set);
  }

  /**
   * Finds the kinds of these objects that are not known yet.
   *
   * @param trustSet definitions of the set are on the cluster: their kinds are known without asking discovery again
   */
  async learn(objects: readonly KubeObject[], { trustSet }: { trustSet: boolean }): Promise<void> {
    const unknown = new Map(objects.map((object) => [keyOf(object), object]));
    for (const [key, { apiVersion, kind }] of unknown) {
      if (this.#known.has(key)) continue;
      const defined = trustSet ? this.#defined.get(key) : undefined;
      try {
        const signal = this.#signal;
        this.#known.set(key, defined ?? (await this.#client.resolve(apiVersion, kind, { signal })));
      } catch (error) {
        this.#signal?.throwIfAborted();
        this.#errors.set(key, error);
      }
    }
  }

  /** The kind of an object that can be asked for as it is. */
  usable(object: KubeObject): Kind | undefined {
    const kind = this.#known.get(keyOf(object));
    return kind && scopeProblem(object, kind) === undefined ? kind : undefined;
  }

  /** Why an object that is not usable cannot be asked for: nobody knows its kind, or its scope is another. */
  refusal(object: KubeObject): MemberResult {
    const ref = refOf(object);
    const kind = this.#known.get(keyOf(object));
    if (kind) return { ref, action: 'failed', message: scopeProblem(object, kind) };
    const error = this.#errors.get(keyOf(object));
    if (!isUnknownKind(error)) return refusedMember(ref, error ?? new Error('its kind is not known yet'));
    const message = `${refusalText(error)}; add its CustomResourceDefinition to the set or install it first`;
    return refusedMember(ref, error, { message, retriable: false });
  }

  isKnown(object: KubeObject): boolean {
    return this.#known.has(keyOf(object));
  }

  isDefinedBySet(object: KubeObject): boolean {
    return this.#defined.has(keyOf(object));
  }
}

function scopeProblem(object: KubeObject, kind: Kind): string | undefined {
  if (kind.scope === 'Namespaced' && !object.metadata.namespace)
    return 'metadata.namespace is required: the kind is namespaced';
  if (kind.scope === 'Cluster' && object.metadata.namespace)
    return 'metadata.namespace must not be set: the kind is cluster-scoped';
  return undefined;
}

function keyOf(object: KubeObject): string {
  return `${object.apiVersion}/${object.kind}`;
}

function kindsDefinedBy(set: readonly KubeObject[]): Map<string, Kind> {
  const kinds = new Map<string, Kind>();
  for (const object of set) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    const spec = object['spec'] as
      | { group?: string; scope?: string; names?: { kind?: string; plural?: string }; versions?: { name?: string }[] }
      | undefined;
    const { group, names } = spec ?? {};
    if (!group || !names?.kind || !names.plural) continue;
    for (const { name: version = '' } of spec?.versions ?? []) {
      const apiVersion = `${group}/${version}`;
      kinds.set(`${apiVersion}/${names.kind}`, {
        group,
        version,
        kind: names.kind,
        plural: names.plural,
        scope: spec?.scope === 'Cluster' ? 'Cluster' : 'Namespaced',
        apiVersion,
      });
    }
  }
  return kinds;
}
