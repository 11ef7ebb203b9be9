import {
  ClusterRoleBinding,
  isForbidden,
  isUnauthorized,
  type Kind,
  type KubeObject,
  kubeTime,
  Namespace,
  ServiceAccount,
} from '@slipway/kube';
import { isAppliedAlready } from '@slipway/manifests';

import { fieldManager } from '../apply-once.ts';
import { ComponentError } from '../component/component-error.ts';
import { names } from '../names.ts';
import { tokenKubeconfig } from '../target/kubeconfig.ts';
import type { WatchedTarget } from '../target/target-watch.ts';
import type { Target } from '../target/target.ts';
import type { TargetKind } from '../target/watched-cluster.ts';

/** Full access to a control plane, for our own controllers. */
export interface AdminAccess {
  readonly kubeconfig: string;
  /** RFC 3339. */
  readonly creationTimestamp: string;
  readonly expirationTimestamp: string;
}

export interface AdminAccessOptions {
  /** Default `admin`. */
  readonly serviceAccountName?: string;
  /** Default `openmcp-system`. */
  readonly serviceAccountNamespace?: string;
  /** How long a token is asked for, in seconds. Default 180 days. */
  readonly tokenSeconds?: number;
}

const renewAfter = 0.8;
const ours = { [names.apiServerManagedLabel]: 'true' };

/** What our access rests on: without the account nobody knows us, without the binding we may do nothing. */
export const accessKinds: readonly TargetKind[] = [
  { kind: ServiceAccount, labelSelector: ours, metadataOnly: true },
  { kind: ClusterRoleBinding, labelSelector: ours, metadataOnly: true },
];

/** When a token is to be replaced: after four fifths of its life. */
export function renewalTime(access: Pick<AdminAccess, 'creationTimestamp' | 'expirationTimestamp'>): number {
  const from = Date.parse(access.creationTimestamp);
  return from + (Date.parse(access.expirationTimestamp) - from) * renewAfter;
}

/** Makes a ServiceAccount with full rights on the control plane and a token for it. */
export async function issueAdminAccess(
  target: Target,
  nowMs: number,
  options: AdminAccessOptions = {},
): Promise<AdminAccess> {
  const { tokenSeconds = 180 * 24 * 3600 } = options;
  const { account, binding } = placeOf(options);
  await ensureManaged(target, Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: account.namespace, labels: ours },
  });
  await ensureManaged(target, ServiceAccount, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...account, labels: ours },
  });
  await ensureManaged(target, ClusterRoleBinding, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: binding, labels: ours },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  const answer = (await target.client.request({
    method: 'POST',
    path: `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: tokenSeconds } },
  })) as { status?: { token?: string; expirationTimestamp?: string } };
  const { token, expirationTimestamp } = answer.status ?? {};
  if (!token || !expirationTimestamp) {
    throw new ComponentError(
      'APIServerAccessProvisioningNotPossible',
      'the control plane answered a token request without a token',
    );
  }
  return {
    kubeconfig: tokenKubeconfig({ ...target, token, user: account.name }),
    creationTimestamp: kubeTime(nowMs),
    expirationTimestamp,
  };
}

/** Whether somebody took our access away: the account, its rights, or what they are known by. */
export async function isWithdrawn(own: WatchedTarget, options: AdminAccessOptions = {}): Promise<boolean> {
  const { account, binding } = placeOf(options);
  try {
    // Not from the cache, which others may have filled: an account that was made again looks the same, and does not know our token.
    const isThere = (await own.client.get(ServiceAccount, account)) !== undefined;
    const bindings = await own.list(ClusterRoleBinding);
    return !isThere || !bindings.some(({ metadata }) => metadata.name === binding);
  } catch (error) {
    if (isUnauthorized(error) || isForbidden(error)) return true;
    throw error;
  }
}

function placeOf({
  serviceAccountName: name = 'admin',
  serviceAccountNamespace: namespace = names.systemNamespace,
}: AdminAccessOptions) {
  return { account: { name, namespace }, binding: `${name}--cluster-admin` };
}

/** Somebody else's object of that name is never adopted: it would be a way to get at full rights, or to lose what is there. */
async function ensureManaged(target: Target, kind: Kind, object: KubeObject): Promise<void> {
  const { name, namespace } = object.metadata;
  const present = await target.client.get(kind, { name: name!, namespace });
  if (present !== undefined && present.metadata.labels?.[names.apiServerManagedLabel] !== 'true') {
    throw new ComponentError(
      'APIServerAccessProvisioningNotPossible',
      `${object.kind} ${namespace ? `${namespace}/` : ''}${name} on the control plane is not ours (label ${names.apiServerManagedLabel}); rename or remove it`,
    );
  }
  // Control planes that share an API server share these too.
  if (present === undefined || !isAppliedAlready(object, present, fieldManager))
    await target.client.apply(object, { fieldManager });
}
