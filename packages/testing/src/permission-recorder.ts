import { yamlText, type PolicyRule, type Transport, type TransportRequest } from '@slipway/kube';

import { accessOf, type Access } from './access.ts';

/** What every manager does, whichever operator it runs; `slipway rbac` grants it by itself. */
const ofEveryManager: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['*'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews'], verbs: ['create'] },
];

const reading = new Set(['get', 'list', 'watch']);

/** How permissions differ from what was done. */
export interface PermissionDifference {
  /** What the operator did and may not do. */
  readonly missing: readonly PolicyRule[];
  /** What it may do and did not do. */
  readonly excess: readonly PolicyRule[];
}

/**
 * Sees which permissions an operator uses while a test leads its objects through their life, and compares them with those it
 * asks for: a rule that is missing fails on a real cluster only, one too many nobody notices at all.
 */
export class PermissionRecorder {
  readonly #seen = new Map<string, Access>();

  /** The operator's way to the server. */
  recording(inner: Transport): Transport {
    return {
      send: async (request, signal) => {
        const response = await inner.send(request, signal);
        this.#note(request);
        // An apply that creates something is checked as a creation, too.
        if (request.method === 'PATCH' && response.status === 201) this.#note(request, 'create');
        return response;
      },
      open: (request, handler) => {
        this.#note(request);
        return inner.open(request, handler);
      },
      close: () => inner.close(),
    };
  }

  /** Everything that was done, as rules. */
  seen(): PolicyRule[] {
    return asRules([...this.#seen.values()]);
  }

  compare(permissions: readonly PolicyRule[]): PermissionDifference {
    const seen = [...this.#seen.values()];
    return {
      missing: asRules(seen.filter((access) => !permissions.some((rule) => grants(rule, access)))),
      excess: asRules(permissions.flatMap(singleGrants).filter((grant) => !isUsed(grant, seen))),
    };
  }

  /** Throws when the permissions are not exactly what was needed, with the rules to add and to take away. */
  verify(permissions: readonly PolicyRule[]): void {
    const { missing, excess } = this.compare(permissions);
    const parts = [
      ...(missing.length > 0 ? [`missing, the operator did this and may not:\n${yamlText(missing)}`] : []),
      ...(excess.length > 0 ? [`too much, the operator may do this and never did:\n${yamlText(excess)}`] : []),
    ];
    if (parts.length > 0) throw new Error(`the permissions are not what the operator needs\n${parts.join('')}`);
  }

  #note(request: TransportRequest, verb?: string): void {
    const access = accessOf(request);
    if (access === undefined) return;
    const noted = verb === undefined ? access : { ...access, verb };
    if (ofEveryManager.some((rule) => grants(rule, noted))) return;
    this.#seen.set(JSON.stringify(noted), noted);
  }
}

function grants(rule: PolicyRule, { group, resource, verb, name }: Access): boolean {
  return (
    includes(rule.apiGroups, group) &&
    includes(rule.resources, resource) &&
    includes(rule.verbs, verb) &&
    (!rule.resourceNames?.length || (name !== undefined && rule.resourceNames.includes(name)))
  );
}

function includes(list: readonly string[] | undefined, wanted: string): boolean {
  return list !== undefined && (list.includes(wanted) || list.includes('*'));
}

/** A rule as one permission each. Those of the names of objects stay together: any of them uses it. */
function singleGrants(rule: PolicyRule): (Access & { readonly rule: PolicyRule })[] {
  return (rule.apiGroups ?? []).flatMap((group) =>
    (rule.resources ?? []).flatMap((resource) => rule.verbs.map((verb) => ({ group, resource, verb, rule }))),
  );
}

function isUsed(grant: Access & { readonly rule: PolicyRule }, seen: readonly Access[]): boolean {
  // The admission of owner references asks for it; no request shows that.
  if (grant.resource.endsWith('/finalizers')) return true;
  // Whoever may read a kind in one way learns nothing new in another.
  const verbs = reading.has(grant.verb) ? [...reading] : [grant.verb];
  const rule = { ...grant.rule, apiGroups: [grant.group], resources: [grant.resource], verbs };
  return seen.some((access) => grants(rule, access));
}

/** Single permissions as rules, one for each resource. */
function asRules(list: readonly Access[]): PolicyRule[] {
  const byResource = Map.groupBy(list, ({ group, resource }) => `${resource}.${group}`);
  return [...byResource.values()].map((rows) => ({
    apiGroups: [rows[0]!.group],
    resources: [rows[0]!.resource],
    verbs: [...new Set(rows.map(({ verb }) => verb))],
  }));
}
