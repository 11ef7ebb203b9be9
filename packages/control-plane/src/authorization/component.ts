import {
  ClusterRole,
  ClusterRoleBinding,
  type DeepReadonly,
  type KubeObject,
  Namespace,
  RoleBinding,
} from '@slipway/kube';

import type { Authorization } from '../api/components.ts';
import { ClusterAdmin } from '../api/cluster-admin.ts';
import { targetOf } from '../api-server/target-of.ts';
import { applyAllOnce } from '../apply-once.ts';
import { withReason } from '../component/component-error.ts';
import type { ComponentDefinition } from '../component/define-component.ts';
import { isHeeded } from '../component/is-heeded.ts';
import { TargetWatch, type WatchedTarget } from '../target/target-watch.ts';
import type { ConnectTarget, Target } from '../target/target.ts';
import { type AuthorizationConfig, defaultAuthorization, type RoleName, type Subject } from './config.ts';
import { clusterRoleBinding, clusterRoles, managedBy, roleBinding } from './roles.ts';
import { userNamespaces } from './user-namespaces.ts';

export interface AuthorizationOptions {
  readonly connect: ConnectTarget;
  /** Default: {@link defaultAuthorization}. */
  readonly config?: AuthorizationConfig;
}

const problem = 'ManagingAuthorizationResourcesProblem';

/** Namespaces of users come and go, and somebody may change or delete what we made. */
const watched = [
  { kind: Namespace, metadataOnly: true },
  { kind: ClusterRole, labelSelector: managedBy },
  { kind: ClusterRoleBinding, labelSelector: managedBy },
  { kind: RoleBinding, labelSelector: managedBy },
] as const;

const roleNames = ['admin', 'view'] as const satisfies readonly RoleName[];

/** The component that says who may do what on a control plane. */
export function authorizationComponent(options: AuthorizationOptions): ComponentDefinition<'Authorization'> {
  const config = options.config ?? defaultAuthorization;
  const targetWatch = new TargetWatch(watched);
  return {
    type: 'Authorization',
    dependsOn: ['APIServer'],
    targetWatch,
    // Its deletion waits for that of the ClusterAdmin.
    watches: [{ kind: ClusterAdmin, map: ({ key }) => [key] }],
    async apply(context) {
      const target = targetWatch.follow(context.key, await targetOf(context, options.connect));
      return await withReason(problem, async () => {
        return { status: { userNamespaces: await writeRoles(target, context.component.spec, config) } };
      });
    },
    isReady: () => ({ ready: true }),
    async remove(context) {
      const admin = await context.client.get(ClusterAdmin, context.key);
      if (admin !== undefined) {
        await context.client.delete(ClusterAdmin, context.key);
        const message = 'Deletion is waiting for the ClusterAdmin to be removed';
        return { waiting: { reason: 'DeletionWaitingForDependingComponents', message } };
      }
      const target = await targetOf(context, options.connect);
      await withReason(problem, async () => {
        const isKept = await targetWatch.handOver(context.key, target, (other) =>
          isHeeded(context.cache, 'Authorization', other),
        );
        if (!isKept) await dropRoles(targetWatch.look(target));
      });
      return undefined;
    },
  };
}

/** Roles, and bindings in all namespaces of users, which it answers. */
async function writeRoles(
  target: WatchedTarget,
  spec: DeepReadonly<Authorization['spec']>,
  config: AuthorizationConfig,
): Promise<string[]> {
  const namespaces = userNamespaces(await target.list(Namespace), config.protectedNamespaces);
  await applyAllOnce(target, ClusterRole, clusterRoles(config, namespaces));
  const subjects = { admin: subjectsOf('admin', spec, config), view: subjectsOf('view', spec, config) };
  const clusterWide = roleNames.map((role) => clusterRoleBinding(role, subjects[role]));
  await applyAllOnce(target, ClusterRoleBinding, clusterWide);
  const inNamespaces = namespaces.flatMap((name) => roleNames.map((role) => roleBinding(role, name, subjects[role])));
  await dropBindings(target, await applyAllOnce(target, RoleBinding, inNamespaces), new Set(namespaces));
  return namespaces;
}

async function dropRoles(target: WatchedTarget): Promise<void> {
  await dropBindings(target, await target.list(RoleBinding));
  for (const kind of [ClusterRoleBinding, ClusterRole]) {
    for (const { metadata } of await target.list(kind)) await target.client.delete(kind, { name: metadata.name! });
  }
}

function subjectsOf(role: RoleName, spec: DeepReadonly<Authorization['spec']>, config: AuthorizationConfig): Subject[] {
  const asked = spec.roleBindings.filter((binding) => binding.role === role).flatMap((binding) => binding.subjects);
  return [...(config[role].additionalSubjects ?? []), ...asked] as Subject[];
}

/** Takes our bindings out of namespaces that are not, or no longer, those of users. */
async function dropBindings(
  { client }: Target,
  found: readonly DeepReadonly<KubeObject>[],
  kept: ReadonlySet<string> = new Set(),
): Promise<void> {
  for (const { metadata } of found) {
    if (!kept.has(metadata.namespace!))
      await client.delete(RoleBinding, { namespace: metadata.namespace, name: metadata.name! });
  }
}
