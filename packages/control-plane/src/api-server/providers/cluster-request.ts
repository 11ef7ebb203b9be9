import { AnyFields, defineKind, kubeTime, Namespace, type ObjectOf, Secret, seconds, Type } from '@slipway/kube';

import { applyOnce } from '../../apply-once.ts';
import { backReferences } from '../../back-references.ts';
import { ComponentError } from '../../component/component-error.ts';
import type { ComponentCondition } from '../../component/component-resource.ts';
import type { ComponentContext } from '../../component/define-component.ts';
import type { ComponentClient } from '../../component/guarded-client.ts';
import { type CoreCluster, onboardingCluster } from '../../core-cluster.ts';
import { platformNamespace } from '../../name-hashes.ts';
import type { AdminAccess } from '../admin-access.ts';
import type { ApiServerProvider, ProvidedApiServer } from '../provider.ts';

const group = { group: 'clusters.openmcp.cloud', version: 'v1alpha1', scope: 'Namespaced' } as const;
const reference = Type.Object({ name: Type.String(), namespace: Type.Optional(Type.String()) });
const reportedConditions = Type.Optional(Type.Array(AnyFields<ComponentCondition>()));

/** Asks the platform for a cluster. */
export const ClusterRequest = defineKind({
  ...group,
  kind: 'ClusterRequest',
  plural: 'clusterrequests',
  spec: AnyFields(),
  status: Type.Object({
    phase: Type.Optional(Type.String()),
    cluster: Type.Optional(reference),
    conditions: reportedConditions,
  }),
});
type ClusterRequest = ObjectOf<typeof ClusterRequest>;

/** Asks for a way into it. */
export const AccessRequest = defineKind({
  ...group,
  kind: 'AccessRequest',
  plural: 'accessrequests',
  spec: AnyFields(),
  status: Type.Object({
    phase: Type.Optional(Type.String()),
    secretRef: Type.Optional(reference),
    conditions: reportedConditions,
  }),
});
type AccessRequest = ObjectOf<typeof AccessRequest>;

/** What the platform made of the request. */
export const Cluster = defineKind({
  ...group,
  kind: 'Cluster',
  plural: 'clusters',
  spec: AnyFields(),
  status: Type.Object({ phase: Type.Optional(Type.String()), conditions: reportedConditions }),
});
type Cluster = ObjectOf<typeof Cluster>;

export interface ClusterRequestOptions {
  /** Where ClusterRequests live. Default: the onboarding cluster. */
  readonly platform?: CoreCluster;
}

const pollMs = seconds(30);
const steps = ['ClusterRequestGranted', 'ClusterReady', 'AccessRequestGranted'] as const;

/** API servers from the platform of the second architecture: a cluster is requested, then access to it. */
export function clusterRequestProvider({
  platform = onboardingCluster,
}: ClusterRequestOptions = {}): ApiServerProvider {
  return {
    name: 'cluster-request',
    async ensure(context) {
      const client = await platform(context);
      const key = platformKey(context);
      await applyOnce(client, Namespace, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: key.namespace, labels: { 'v1.openmcp.cloud/mcp-namespace': context.key.namespace ?? '' } },
      });

      // 1. Ask for a cluster.
      const purpose = context.component.spec.type === 'Gardener' ? 'mcp' : 'mcp-worker';
      const asked = await applyOnce(client, ClusterRequest, {
        apiVersion: ClusterRequest.apiVersion,
        kind: ClusterRequest.kind,
        metadata: { ...key, labels: backReferences(context.key) },
        spec: { purpose },
      });
      const request = asked.object as ClusterRequest;
      const { phase, cluster } = request.status ?? {};
      if (phase !== 'Granted' || !cluster) return waitsAt(0, request.status, phase === 'Denied' ? undefined : pollMs);

      // 2. Wait until it is ready.
      const found = (await client.get(Cluster, { namespace: key.namespace, ...cluster })) as Cluster | undefined;
      if (found?.status?.phase !== 'Ready') return waitsAt(1, found?.status, pollMs);

      // 3. Ask for access, and use it.
      const access = await applyOnce(client, AccessRequest, {
        apiVersion: AccessRequest.apiVersion,
        kind: AccessRequest.kind,
        metadata: { ...key, labels: backReferences(context.key) },
        spec: {
          requestRef: key,
          token: { permissions: [{ rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }] },
        },
      });
      const { status } = access.object as AccessRequest;
      if (status?.phase !== 'Granted' || !status.secretRef)
        return waitsAt(2, status, status?.phase === 'Denied' ? undefined : pollMs);
      const given = await readAccess(context, client, { namespace: key.namespace, name: status.secretRef.name });
      return { ready: true, bootstrapKubeconfig: given.kubeconfig, access: given, conditions: steps.map(succeeded) };
    },
    async remove(context) {
      const client = await platform(context);
      const key = platformKey(context);
      for (const [kind, type, reason] of [
        [AccessRequest, 'AccessRequestDeleted', 'AccessRequestNotDeleted'],
        [ClusterRequest, 'ClusterRequestDeleted', 'ClusterRequestNotDeleted'],
      ] as const) {
        await client.delete(kind, key);
        if ((await client.get(kind, key)) === undefined) continue;
        const message = `Waiting for the ${kind.kind} to be deleted.`;
        return { reason, message, conditions: [{ type, status: 'False', reason, message }], requeueAfterMs: pollMs };
      }
      return undefined;
    },
  };
}

function platformKey({ key }: ComponentContext<'APIServer'>): { name: string; namespace: string } {
  return { name: key.name, namespace: platformNamespace(key.namespace ?? '', key.name) };
}

const reasons = ['ClusterRequestNotGranted', 'ClusterNotReady', 'AccessRequestNotGranted'] as const;

function waitsAt(
  step: 0 | 1 | 2,
  status: { conditions?: ComponentCondition[] } | undefined,
  requeueAfterMs: number | undefined,
): ProvidedApiServer {
  const reason = reasons[step];
  const message = conditionTexts(status?.conditions) || '<NoMessage>';
  const conditions = steps.map((type, index): ComponentCondition => {
    if (index < step) return succeeded(type);
    if (index === step) return { type, status: 'False', reason, message: `Waiting: ${message}` };
    return { type, status: 'Unknown', reason, message: `Waiting for ${steps[step]}.` };
  });
  return { ready: false, reason, message: `Waiting: ${message}`, requeueAfterMs, conditions };
}

function succeeded(type: string): ComponentCondition {
  return { type, status: 'True' };
}

function conditionTexts(conditions: readonly ComponentCondition[] = []): string {
  return conditions
    .filter(({ status }) => status !== 'True')
    .map(({ reason = '', message = '' }) => `[${reason}] ${message}`)
    .join(', ');
}

async function readAccess(
  context: ComponentContext<'APIServer'>,
  client: ComponentClient,
  key: { namespace: string; name: string },
): Promise<AdminAccess> {
  const secret = await client.get(Secret, key);
  const field = (name: string): string => {
    const encoded = secret?.data?.[name];
    if (encoded !== undefined) return Buffer.from(encoded, 'base64').toString('utf8');
    throw new ComponentError('PlatformClusterInteractionProblem', `the Secret of the AccessRequest has no ${name}`);
  };
  const kubeconfig = context.internal(field('kubeconfig')).reveal();
  const time = (name: string): string => {
    const value = Number(field(name));
    if (Number.isSafeInteger(value)) return kubeTime(seconds(value));
    throw new ComponentError(
      'PlatformClusterInteractionProblem',
      `${name} in the Secret of the AccessRequest is no time`,
    );
  };
  return {
    kubeconfig,
    creationTimestamp: time('creationTimestamp'),
    expirationTimestamp: time('expirationTimestamp'),
  };
}
