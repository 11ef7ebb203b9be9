import type { ApiObject } from '../object.ts';
import type { Authorizer, Decision, RequestAttributes, UserInfo } from './auth.ts';
import { ruleAllows, type PolicyRule } from './policy-rules.ts';
import type { StoredObjects } from './stored-objects.ts';

const CLUSTER_ROLES = 'clusterroles.rbac.authorization.k8s.io';
const CLUSTER_ROLE_BINDINGS = 'clusterrolebindings.rbac.authorization.k8s.io';
const ROLES = 'roles.rbac.authorization.k8s.io';
const ROLE_BINDINGS = 'rolebindings.rbac.authorization.k8s.io';
const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

interface Binding extends ApiObject {
  subjects?: Subject[];
  roleRef: RoleRef;
}

/** A rule that applies to somebody, and through what. */
export interface Grant {
  readonly rule: PolicyRule;
  /** `RoleBinding "rb/ns" of Role "r" to User "alice"` */
  readonly source: string;
}

function subjectMatches(subject: Subject, user: UserInfo, bindingNamespace: string | undefined): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === user.name;
    case 'Group':
      return user.groups.includes(subject.name);
    case 'ServiceAccount': {
      const namespace = subject.namespace || bindingNamespace;
      return namespace !== undefined && user.name === `${SERVICE_ACCOUNT_PREFIX}${namespace}:${subject.name}`;
    }
    default:
      return false;
  }
}

function describeSubject(subject: Subject, bindingNamespace: string | undefined): string {
  const name =
    subject.kind === 'ServiceAccount'
      ? `${subject.name}/${subject.namespace || (bindingNamespace ?? '')}`
      : subject.name;
  return `${subject.kind} ${JSON.stringify(name)}`;
}

/** Roles and bindings as they are stored. */
export class RoleBindings {
  readonly #objects: StoredObjects;

  constructor(objects: StoredObjects) {
    this.#objects = objects;
  }

  /** The rules of a role; throws the sentence the real server uses when it is missing. */
  rulesOf(roleRef: RoleRef, namespace: string | undefined): readonly PolicyRule[] {
    const isCluster = roleRef.kind === 'ClusterRole';
    const role = isCluster
      ? this.#objects.lookup(CLUSTER_ROLES, undefined, roleRef.name)
      : this.#objects.lookup(ROLES, namespace, roleRef.name);
    if (!role) {
      const plural = isCluster ? 'clusterrole' : 'role';
      throw new Error(`${plural}.rbac.authorization.k8s.io ${JSON.stringify(roleRef.name)} not found`);
    }
    return (role['rules'] as PolicyRule[] | undefined) ?? [];
  }

  /** Everything a user may do in a namespace (or cluster-wide when it is empty), one rule at a time until the caller stops. */
  *grantsOf(user: UserInfo, namespace: string, errors: string[] = []): Generator<Grant, void, undefined> {
    for (const binding of this.#objects.scan(CLUSTER_ROLE_BINDINGS) as Iterable<Binding>) {
      yield* this.#grants(binding, user, undefined, errors);
    }
    if (namespace) {
      for (const binding of this.#objects.scan(ROLE_BINDINGS) as Iterable<Binding>) {
        if (binding.metadata.namespace === namespace) {
          yield* this.#grants(binding, user, namespace, errors);
        }
      }
    }
  }

  *#grants(
    binding: Binding,
    user: UserInfo,
    namespace: string | undefined,
    errors: string[],
  ): Generator<Grant, void, undefined> {
    const subject = binding.subjects?.find((each) => subjectMatches(each, user, namespace));
    if (!subject) {
      return;
    }
    const { roleRef } = binding;
    let rules: readonly PolicyRule[];
    try {
      rules = this.rulesOf(roleRef, namespace);
    } catch (error) {
      errors.push((error as Error).message);
      return;
    }
    const name = binding.metadata.name!;
    const place = namespace
      ? `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
      : `ClusterRoleBinding ${JSON.stringify(name)}`;
    const source = `${place} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${describeSubject(subject, namespace)}`;
    for (const rule of rules) {
      yield { rule, source };
    }
  }
}

/** Allows what a role bound to the user allows; the group `system:masters` may do everything. */
export function rbacAuthorizer(bindings: RoleBindings): Authorizer {
  return {
    authorize(attributes: RequestAttributes): Decision {
      if (attributes.user.groups.includes('system:masters')) {
        return { allowed: true };
      }
      const errors: string[] = [];
      for (const { rule, source } of bindings.grantsOf(attributes.user, attributes.resource?.namespace ?? '', errors)) {
        if (ruleAllows(rule, attributes)) {
          return { allowed: true, reason: `RBAC: allowed by ${source}` };
        }
      }
      return errors.length > 0 ? { allowed: false, reason: `RBAC: ${formatErrors(errors)}` } : { allowed: false };
    },
  };
}

function formatErrors(errors: readonly string[]): string {
  return errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`;
}
