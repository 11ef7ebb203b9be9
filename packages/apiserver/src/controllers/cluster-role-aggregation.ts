import { cloneJson } from '../clone-json.ts';
import type { PolicyRule } from '../auth/policy-rules.ts';
import { matchesLabels, type LabelSelector } from '../label-selector.ts';
import type { ApiObject } from '../object.ts';
import type { ControllerContext, RunningController } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

interface ClusterRole extends ApiObject {
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
  rules?: PolicyRule[];
}

const CLUSTER_ROLES = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles' };

/** Fills ClusterRoles that have an `aggregationRule` with the rules of those they select. */
export function startClusterRoleAggregation(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const roles = informers.of(CLUSTER_ROLES.group, CLUSTER_ROLES.version, CLUSTER_ROLES.plural);
  const queue = new WorkQueue({
    name: 'ClusterRole aggregation',
    clock,
    log,
    async process(name) {
      const role = roles.get(undefined, name) as ClusterRole | undefined;
      if (!role?.aggregationRule || role.metadata.deletionTimestamp !== undefined) {
        return;
      }
      const selectors = role.aggregationRule.clusterRoleSelectors ?? [];
      const sources = ([...roles.list()] as ClusterRole[])
        .filter(
          (other) =>
            other.metadata.name !== name &&
            selectors.some((selector) => matchesLabels(selector, other.metadata.labels)),
        )
        .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
      const seen = new Set<string>();
      const rules = sources
        .flatMap((source) => source.rules ?? [])
        .filter((rule) => {
          const text = JSON.stringify(rule);
          return seen.has(text) ? false : Boolean(seen.add(text));
        });
      const same = new Set((role.rules ?? []).map((rule) => JSON.stringify(rule)));
      if (same.size !== seen.size || [...seen].some((text) => !same.has(text))) {
        await client.update({ ...CLUSTER_ROLES, name }, { ...role, rules: cloneJson(rules) });
      }
    },
  });
  const unsubscribe = roles.subscribe(() => {
    for (const role of roles.list() as Iterable<ClusterRole>) {
      if (role.aggregationRule) {
        queue.add(role.metadata.name!);
      }
    }
  });
  return {
    stop() {
      unsubscribe();
      queue.stop();
    },
  };
}
