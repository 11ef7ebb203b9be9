import type { Admission, AdmissionContext } from '../admission/admission.ts';
import { forbidden, notFound } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import type { Authorizer, UserInfo } from './auth.ts';
import { compactRules, describeRule, goList, missingRules, type PolicyRule } from './policy-rules.ts';
import type { RoleBindings, RoleRef } from './rbac.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** Nobody may hand out more than they have: checks writes of roles and bindings against what the writer may do. */
export function roleEscalationCheck(bindings: RoleBindings, authorizer: Authorizer): Admission {
  return {
    mutate() {},
    validate(context) {
      const isRbac = context.resource.group === GROUP && context.subresource === '' && context.object !== undefined;
      if (!isRbac || context.user.groups.includes('system:masters')) {
        return undefined;
      }
      return context.resource.plural.endsWith('bindings')
        ? checkBinding(context, bindings, authorizer)
        : checkRole(context, bindings, authorizer);
    },
  };
}

async function checkRole(context: AdmissionContext, bindings: RoleBindings, authorizer: Authorizer): Promise<void> {
  const rules = (context.object!['rules'] as PolicyRule[] | undefined) ?? [];
  const before = (context.oldObject?.['rules'] as PolicyRule[] | undefined) ?? [];
  const sameRules = context.oldObject !== undefined && JSON.stringify(rules) === JSON.stringify(before);
  const isAggregated = context.object!['aggregationRule'] !== undefined;
  if (sameRules && !isAggregated) {
    return;
  }
  const name = context.object!.metadata.name ?? '';
  if (await may(context, authorizer, 'escalate', context.resource.plural, name)) {
    return;
  }
  // An aggregated role can come to hold anything.
  const wanted = isAggregated ? [...rules, { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] : rules;
  refuseMissing(context, bindings, wanted);
}

async function checkBinding(context: AdmissionContext, bindings: RoleBindings, authorizer: Authorizer): Promise<void> {
  const { object, oldObject } = context;
  const content = (each: ApiObject) => JSON.stringify([each['roleRef'], each['subjects'] ?? []]);
  if (oldObject && content(object!) === content(oldObject)) {
    return;
  }
  const roleRef = object!['roleRef'] as RoleRef;
  const plural = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (await may(context, authorizer, 'bind', plural, roleRef.name)) {
    return;
  }
  let rules: readonly PolicyRule[];
  try {
    rules = bindings.rulesOf(roleRef, context.namespace || undefined);
  } catch {
    // Binding a role that does not exist yet could grant anything later.
    throw notFound(context.resource, roleRef.name);
  }
  refuseMissing(context, bindings, rules);
}

async function may(
  context: AdmissionContext,
  authorizer: Authorizer,
  verb: string,
  plural: string,
  name: string,
): Promise<boolean> {
  const decision = await authorizer.authorize({
    user: context.user,
    verb,
    path: '',
    resource: { group: GROUP, version: 'v1', plural, subresource: '', namespace: context.namespace, name },
  });
  return decision.allowed;
}

function refuseMissing(context: AdmissionContext, bindings: RoleBindings, wanted: readonly PolicyRule[]): void {
  const held = [...bindings.grantsOf(context.user, context.namespace)].map((grant) => grant.rule);
  const missing = missingRules(held, wanted);
  if (missing.length === 0) {
    return;
  }
  const list = compactRules(missing).map(describeRule).sort().join('\n');
  throw forbidden(
    context.resource,
    context.object!.metadata.name ?? '',
    `${describeUser(context.user)} is attempting to grant RBAC permissions not currently held:\n${list}`,
  );
}

function describeUser(user: UserInfo): string {
  return `user ${JSON.stringify(user.name)} (groups=${goList(user.groups)})`;
}
