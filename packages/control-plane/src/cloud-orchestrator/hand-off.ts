import { AnyFields, defineKind, type KubeObject, Namespace, type ObjectOf, seconds, Type } from '@slipway/kube';
import { parse } from 'yaml';

import { adminKubeconfigOf } from '../api-server/target-of.ts';
import { applyOnce } from '../apply-once.ts';
import { backReferences } from '../back-references.ts';
import type { ComponentCondition } from '../component/component-resource.ts';
import type { ComponentContext, ComponentOutcome } from '../component/define-component.ts';
import type { ComponentClient } from '../component/guarded-client.ts';
import type { CoreCluster } from '../core-cluster.ts';
import { prefixWithNamespace } from '../name-hashes.ts';
import { names } from '../names.ts';

/** What the control plane operator on the core cluster is asked for. */
export const ControlPlane = defineKind({
  group: 'core.orchestrate.cloud.sap',
  version: 'v1beta1',
  kind: 'ControlPlane',
  scope: 'Cluster',
  plural: 'controlplanes',
  spec: AnyFields(),
  status: Type.Object({
    conditions: Type.Optional(Type.Array(AnyFields<ComponentCondition>())),
    componentsEnabled: Type.Optional(Type.Integer()),
    componentsHealthy: Type.Optional(Type.Integer()),
  }),
});
type ControlPlane = ObjectOf<typeof ControlPlane>;

const pollMs = seconds(30);
const deletionPollMs = seconds(10);

export async function applyControlPlane(
  context: ComponentContext<'CloudOrchestrator'>,
  onCore: CoreCluster,
): Promise<ComponentOutcome<'CloudOrchestrator'>> {
  const wanted = await desiredControlPlane(context);
  const { object } = await applyOnce(await onCore(context), ControlPlane, wanted);
  const { status: found } = object as ControlPlane;
  const { componentsEnabled = 0, componentsHealthy = 0, conditions: reported = [] } = found ?? {};
  const conditions = reported.map(complete);
  return {
    status: { componentsEnabled, componentsHealthy },
    conditions,
    ...judged(conditions, componentsEnabled === componentsHealthy),
  };
}

function judged(
  conditions: readonly ComponentCondition[],
  allHealthy: boolean,
): Pick<ComponentOutcome<'CloudOrchestrator'>, 'readiness' | 'requeueAfterMs'> {
  const unhappy = conditions.filter(({ status }) => status !== 'True').map(({ type }) => type);
  if (unhappy.length > 0) {
    const message = `The following conditions of the ControlPlane are not satisfied: ${unhappy.join(', ')}`;
    return { readiness: { ready: false, reason: 'UnhealthyControlPlaneConditions', message }, requeueAfterMs: pollMs };
  }
  if (allHealthy && conditions.some(({ type }) => type === 'Ready')) return { readiness: { ready: true } };
  const message = 'Waiting for the ControlPlane to become ready.';
  return { readiness: { ready: false, reason: 'WaitingForCloudOrchestrator', message }, requeueAfterMs: pollMs };
}

export async function removeControlPlane(context: ComponentContext<'CloudOrchestrator'>, core: ComponentClient) {
  const key = controlPlaneKey(context);
  await core.delete(ControlPlane, key);
  if ((await core.get(ControlPlane, key)) === undefined) return undefined;
  const waiting = { reason: 'ComponentIsInDeletion', message: 'Waiting for the ControlPlane to be deleted.' } as const;
  return { waiting, requeueAfterMs: deletionPollMs };
}

function controlPlaneKey({ key }: ComponentContext<'CloudOrchestrator'>): { name: string } {
  return { name: prefixWithNamespace(key.namespace ?? '', key.name) };
}

/** The whole object; what the spec no longer asks for goes, because the fields are ours. */
async function desiredControlPlane(context: ComponentContext<'CloudOrchestrator'>): Promise<KubeObject> {
  const kubeconfig: unknown = parse(await adminKubeconfigOf(context));
  const { crossplane, btpServiceOperator, externalSecretsOperator, kyverno, flux } = context.component.spec;
  return {
    apiVersion: ControlPlane.apiVersion,
    kind: ControlPlane.kind,
    metadata: {
      ...controlPlaneKey(context),
      labels: { ...backReferences(context.key), ...(await projectLabels(context)) },
    },
    spec: {
      target: { kubeconfig, fluxServiceAccount: { name: 'co-flux-deployer', namespace: names.systemNamespace } },
      ...(crossplane ? { crossplane } : {}),
      // The BTP service operator needs certificates, and whoever installs it has to know.
      ...(btpServiceOperator
        ? { btpServiceOperator, certManager: { version: '1.16.1', values: { webhook: { timeoutSeconds: 15 } } } }
        : {}),
      ...(externalSecretsOperator ? { externalSecretsOperator } : {}),
      ...(kyverno ? { kyverno } : {}),
      ...(flux ? { flux: { ...flux, values: { rbac: { roleRef: { name: 'openmcp:admin:clusterscoped' } } } } } : {}),
    },
  };
}

async function projectLabels(context: ComponentContext<'CloudOrchestrator'>): Promise<Record<string, string>> {
  const namespace = await context.client.get(Namespace, { name: context.key.namespace! });
  const { [names.projectLabel]: project, [names.workspaceLabel]: workspace } = namespace?.metadata.labels ?? {};
  return {
    ...(project ? { 'openmcp.cloud/project': project } : {}),
    ...(workspace ? { 'openmcp.cloud/workspace': workspace } : {}),
  };
}

/** A condition of somebody else, as the contract wants it. */
function complete({ type, status, reason, message }: ComponentCondition): ComponentCondition {
  return {
    type,
    status,
    reason: reason ?? (status === 'True' ? undefined : 'NoReason'),
    message: message ?? `${type} is ${status}`,
  };
}
