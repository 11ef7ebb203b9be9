import { createHash } from 'node:crypto';
import type { CacheEvent, DeepReadonly, Kind, KubeObject, ObjectKey } from '@slipway/kube';
import { refKey, refOf, type MemberResult } from '@slipway/manifests';

import { operandMembership } from '../names.ts';

interface Known {
  /** Of the configuration that was applied and found as it should be; `undefined` when the member has changed since. */
  readonly digest?: string;
  /** The state of the object that was last seen, by the watch or by a pass. */
  readonly version?: string | undefined;
  /** What the last pass that looked at it said. */
  readonly result?: MemberResult | undefined;
}

/**
 * What this process knows of the members of one Operand, so that one change out of a thousand costs one read and one write,
 * whether it is in the spec or on the cluster. Only a saving: whenever in doubt, everything is looked at.
 */
export class MemberKnowledge {
  readonly #members = new Map<string, Known>();
  /** Members the watch told of since the run began. */
  #noted = new Set<string>();
  /** The Operand as the last run left it. */
  #leftAt: string | undefined;
  /** Somebody has touched the Operand since. */
  #poked = false;
  #terms = '';
  /** When everything was looked at last; `undefined` when that is due. */
  #fullPassAt: number | undefined;
  #startedAt = 0;

  /** Notes what the watch says. Returns whether it is news. */
  note(member: string, event: CacheEvent): boolean {
    const version = event.type === 'deleted' ? undefined : event.meta.resourceVersion;
    const known = this.#members.get(member);
    if (version !== undefined && known?.digest !== undefined && known.version === version) return false;
    this.#members.set(member, { version, result: known?.result });
    this.#noted.add(member);
    return true;
  }

  /** A run begins, with this state of the Operand. Everything is looked at again after `fullEveryMs`. */
  begin(now: number, fullEveryMs: number, version: string | undefined): void {
    this.#startedAt = now;
    this.#poked = this.#leftAt !== version;
    this.#noted = new Set();
    if (this.#fullPassAt !== undefined && now - this.#fullPassAt >= fullEveryMs) this.distrust();
  }

  /** The run is over and has left the Operand in this state. */
  end(version: string | undefined): void {
    this.#leftAt = version;
  }

  /**
   * The members to look at (by `refKey`); `undefined` when all are.
   *
   * @param terms what else a member is judged by; when that changes, all are
   * @param steady everything was in force: whoever touches the Operand then wants it looked at
   */
  toLookAt(
    configs: readonly DeepReadonly<KubeObject>[],
    terms: string,
    steady: boolean,
  ): ReadonlySet<string> | undefined {
    if (this.#fullPassAt === undefined || this.#terms !== terms || (steady && this.#poked)) return undefined;
    const keys = configs
      .map((config) => [refKey(refOf(config)), config] as const)
      .filter(([key, config]) => this.#members.get(key)?.digest !== digest(config))
      .map(([key]) => key);
    return keys.length === configs.length ? undefined : new Set(keys);
  }

  /** A pass has found or made these members as they should be. */
  settle(
    configs: readonly DeepReadonly<KubeObject>[],
    terms: string,
    results: readonly MemberResult[],
    full: boolean,
  ): void {
    if (full) this.#fullPassAt = this.#startedAt;
    this.#terms = terms;
    const byKey = new Map(configs.map((config) => [refKey(refOf(config)), config]));
    for (const result of results) {
      const key = refKey(result.ref);
      const config = byKey.get(key);
      if (!config) continue;
      const seen = this.#members.get(key)?.version;
      // Changed while the pass was under way: it has to be looked at again.
      if (this.#noted.has(key) && seen !== result.resourceVersion) this.#members.set(key, { version: seen, result });
      else this.#members.set(key, { digest: digest(config), version: result.resourceVersion, result });
    }
  }

  /** What the last passes said about these members; `undefined` when not all of them were looked at. */
  resultsOf(objects: readonly DeepReadonly<KubeObject>[]): MemberResult[] | undefined {
    const results = objects.map((object) => this.#members.get(refKey(refOf(object)))?.result);
    return results.every((result) => result !== undefined) ? results : undefined;
  }

  /** Nothing is known any more: the next pass looks at everything. */
  distrust(): void {
    this.#fullPassAt = undefined;
    this.#members.clear();
  }
}

/** The member an event is about, by its `refKey`. */
export function memberOf(event: CacheEvent, kind: Kind): string {
  const { namespace = '', name } = event.key;
  return refKey({ group: kind.group, kind: kind.kind, namespace, name });
}

/** The knowledge about all Operands, fed by one watch. */
export class MemberChanges {
  readonly #byLabel = new Map<string, { key: ObjectKey; uid: string | undefined; knowledge: MemberKnowledge }>();

  /** Notes a change and returns the Operands it is news for. */
  note(event: CacheEvent, kind: Kind): ObjectKey[] {
    const member = memberOf(event, kind);
    const owners: ObjectKey[] = [];
    // Also of the sets whose label it has just lost.
    for (const label of new Set([event.meta, event.oldMeta].flatMap((meta) => Object.keys(meta?.labels ?? {})))) {
      const known = this.#byLabel.get(label);
      if (known?.knowledge.note(member, event)) owners.push(known.key);
    }
    return owners;
  }

  /** What is known of an Operand; of one that was deleted and made again nothing is. */
  of(key: ObjectKey, uid: string | undefined): MemberKnowledge {
    const { label } = operandMembership(key.name);
    const known = this.#byLabel.get(label);
    if (known && known.uid === uid) return known.knowledge;
    const knowledge = new MemberKnowledge();
    this.#byLabel.set(label, { key, uid, knowledge });
    return knowledge;
  }

  forget(key: ObjectKey): void {
    this.#byLabel.delete(operandMembership(key.name).label);
  }
}

function digest(config: DeepReadonly<KubeObject>): string {
  return createHash('sha256').update(JSON.stringify(config)).digest('base64url').slice(0, 22);
}
