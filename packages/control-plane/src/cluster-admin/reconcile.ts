import {
  ClusterRoleBinding,
  hasFinalizer,
  isTerminating,
  type KubeObject,
  kubeTime,
  type ObjectKey,
  seconds,
} from '@slipway/kube';
import { type ReconcileContext, type Requeue, requeueAfter } from '@slipway/runtime';

import { Authorization, APIServer } from '../api/components.ts';
import { ClusterAdmin } from '../api/cluster-admin.ts';
import { ManagedControlPlane } from '../api/managed-control-plane.ts';
import { readAccess } from '../api-server/access-secret.ts';
import { applyOnce } from '../apply-once.ts';
import { ComponentError } from '../component/component-error.ts';
import { finalizer, originalFinalizer } from '../component/component-type.ts';
import { names } from '../names.ts';
import type { TargetWatch } from '../target/target-watch.ts';
import type { ConnectTarget, Target } from '../target/target.ts';

export interface Terms {
  readonly connect: ConnectTarget;
  readonly activeMs: number;
  /** While rights are given, the binding on the control plane is watched. */
  readonly targetWatch: TargetWatch;
}

/** How the binding is marked. */
export const managedBy = { [names.managedByLabel]: 'ClusterAdmin' };

const binding = { name: 'openmcp:cluster-admin' };
const accessPollMs = seconds(10);

/** Gives full rights on a control plane, and takes them back when their time is over. */
export async function reconcileClusterAdmin(
  context: ReconcileContext,
  key: ObjectKey,
  { connect, activeMs, targetWatch }: Terms,
): Promise<Requeue | undefined> {
  const { client, cache, clock } = context;

  // 1. Fetch it, and the control plane it is about. Most control planes have none: whoever hears of one from the cache reads it.
  const admin = (await cache.get(ClusterAdmin, key)) && (await client.get(ClusterAdmin, key));
  if (!admin?.status?.active) targetWatch.leave(key);
  if (admin === undefined) return undefined;
  const target = await targetFor(context, key, connect);
  if (isTerminating(admin)) return await takeAway(context, admin, target);
  if (target === undefined) return requeueAfter(accessPollMs);

  // 2. The finalizer comes before the rights: they cannot outlive the object.
  if (!hasFinalizer(admin, finalizer('Authorization'))) await client.addFinalizer(admin, finalizer('Authorization'));

  // 3. Activate it once.
  const { status } = admin;
  const nowMs = clock.now();
  if (status?.activationTime === undefined) {
    if (status?.active)
      throw new ComponentError('InternalError', 'it is active without a time; delete it and create a new one');
    // When it ends is written down before it begins.
    const next = { active: true, activationTime: kubeTime(nowMs), expirationTime: kubeTime(nowMs + activeMs) };
    await client.patch(ClusterAdmin, key, { type: 'merge', body: { status: next } }, { subresource: 'status' });
    await grant(targetWatch.follow(key, target), admin);
    await tell(context, key, 'ClusterAdminActivated', `full rights are given until ${next.expirationTime}`);
    return requeueAfter(activeMs);
  }
  if (!status.active) return undefined;

  // 4. While it is active, keep the binding as the spec says; when its time is over, take it back for good.
  const endMs = Date.parse(status.expirationTime ?? status.activationTime);
  if (nowMs < endMs) {
    await grant(targetWatch.follow(key, target), admin);
    return requeueAfter(endMs - nowMs);
  }
  targetWatch.leave(key);
  await target.client.delete(ClusterRoleBinding, binding);
  await client.patch(
    ClusterAdmin,
    key,
    { type: 'merge', body: { status: { active: false } } },
    { subresource: 'status' },
  );
  await tell(context, key, 'ClusterAdminDeactivated', 'full rights are taken back, because their time is over');
  return undefined;
}

/** The control plane; undefined while there is no access to it yet. */
async function targetFor(
  context: ReconcileContext,
  key: ObjectKey,
  connect: ConnectTarget,
): Promise<Target | undefined> {
  const { client } = context;
  const apiServer = await client.get(APIServer, key);
  const authorization = await client.get(Authorization, key);
  if (apiServer === undefined || authorization === undefined) return undefined;
  const { kubeconfig } = await readAccess(client, apiServer);
  return kubeconfig === undefined ? undefined : await connect(kubeconfig);
}

async function takeAway(
  context: ReconcileContext,
  admin: ClusterAdmin,
  target: Target | undefined,
): Promise<Requeue | undefined> {
  // Without a control plane there is nothing left to take away.
  await target?.client.delete(ClusterRoleBinding, binding);
  if (admin.status?.active) {
    const { name, namespace } = admin.metadata;
    await tell(
      context,
      { name: name!, namespace },
      'ClusterAdminDeactivated',
      'full rights are taken back, because the ClusterAdmin was deleted',
    );
  }
  for (const each of [finalizer('Authorization'), originalFinalizer('Authorization')]) {
    if (hasFinalizer(admin, each)) await context.client.removeFinalizer(admin, each);
  }
  return undefined;
}

async function grant({ client }: Target, admin: ClusterAdmin): Promise<void> {
  await applyOnce(client, ClusterRoleBinding, {
    apiVersion: ClusterRoleBinding.apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { ...binding, labels: managedBy },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: admin.spec.subjects.map((subject) =>
      subject.kind === 'ServiceAccount' ? subject : { apiGroup: 'rbac.authorization.k8s.io', ...subject },
    ),
  } as KubeObject);
}

/** Whoever looks at the control plane has to see that somebody had full rights. */
async function tell({ client, events }: ReconcileContext, key: ObjectKey, reason: string, note: string): Promise<void> {
  const mcp = await client.get(ManagedControlPlane, key);
  if (mcp) events.warning(mcp, reason, note);
}
