import { isDefined, type Kind, type PolicyRule } from '@slipway/kube';

import type { Controller } from './controller.ts';

const reading = ['get', 'list', 'watch'];

/**
 * The permissions controllers say they need by what they declare: `for`, `owns`, `watches` and `reads` are read, what is owned
 * is applied, the status of the own kind is written, finalizers are put on it where there is a clean-up. What a reconciler does
 * besides, such as deleting something, no declaration shows: it comes as `also`. The recorder of `@slipway/testing` finds
 * what is missing.
 */
export function permissionsOf(controllers: readonly Controller[], also: readonly PolicyRule[] = []): PolicyRule[] {
  const needed = new Needed();
  for (const { for: kind, owns, watches, reads, finalize, cluster } of controllers) {
    if (isElsewhere(cluster)) continue;
    needed.add(kind, '', finalize ? [...reading, 'patch'] : reading);
    if (!isDefined(kind) || kind.definition.status !== undefined) needed.add(kind, '/status', ['patch']);
    // Where OwnerReferencesPermissionEnforcement is on, whoever writes a reference that holds up its owner must be able to do so.
    if (owns.length > 0) needed.add(kind, '/finalizers', ['update']);
    for (const owned of owns) needed.add(owned.kind, '', [...reading, 'create', 'patch']);
    for (const read of [...watches, ...reads]) if (!isElsewhere(read.cluster)) needed.add(read.kind, '', reading);
  }
  return [...needed.rules(), ...also];
}

/** Other clusters of a manager have roles of their own. */
function isElsewhere(cluster: string | undefined): boolean {
  return cluster !== undefined && cluster !== 'main';
}

/** Verbs by resource. */
class Needed {
  readonly #verbs = new Map<string, { group: string; resource: string; verbs: Set<string> }>();

  add({ group, plural }: Kind, subresource: string, verbs: readonly string[]): void {
    const resource = `${plural}${subresource}`;
    const row = this.#verbs.get(`${resource}.${group}`) ?? { group, resource, verbs: new Set() };
    for (const verb of verbs) row.verbs.add(verb);
    this.#verbs.set(`${resource}.${group}`, row);
  }

  /** Resources of one group that need the same share a rule. */
  rules(): PolicyRule[] {
    const alike = Map.groupBy(this.#verbs.values(), ({ group, verbs }) => `${group} ${[...verbs].join(' ')}`);
    return [...alike.values()].map((rows) => ({
      apiGroups: [rows[0]!.group],
      resources: rows.map(({ resource }) => resource),
      verbs: [...rows[0]!.verbs],
    }));
  }
}
