import { isAlreadyExists, Namespace, type ObjectKey, type ObjectOf, seconds } from '@slipway/kube';

import { adminKubeconfigOf } from '../api-server/target-of.ts';
import { applyOnce } from '../apply-once.ts';
import { backReferences } from '../back-references.ts';
import { ComponentError } from '../component/component-error.ts';
import type { ComponentContext, ComponentOutcome } from '../component/define-component.ts';
import type { ComponentClient } from '../component/guarded-client.ts';
import type { CoreCluster } from '../core-cluster.ts';
import { k8sNameHash } from '../name-hashes.ts';
import type { ConnectTarget } from '../target/target.ts';
import { LandscaperDeployment } from './kinds.ts';

type Deployment = ObjectOf<typeof LandscaperDeployment>;

const pollMs = seconds(30);
const tenantLength = 8;

/** Asks the Landscaper service for a Landscaper that works on the control plane. */
export async function applyDeployment(
  context: ComponentContext<'Landscaper'>,
  onCore: CoreCluster,
  connect: ConnectTarget,
): Promise<ComponentOutcome<'Landscaper'>> {
  const kubeconfig = await adminKubeconfigOf(context);
  // What cannot be used here is of no use there either.
  await connect(kubeconfig);
  const core = await onCore(context);
  const where = await findDeployment(context, core);
  const labels = backReferences(context.key);
  await ensureNamespace(core, where.namespace!, labels);
  const { object, changed } = await applyOnce(core, LandscaperDeployment, {
    apiVersion: LandscaperDeployment.apiVersion,
    kind: LandscaperDeployment.kind,
    metadata: { ...where, labels },
    spec: {
      tenantId: k8sNameHash(context.key.namespace ?? '').slice(0, tenantLength),
      purpose: 'undefined',
      landscaperConfiguration: { deployers: [...(context.component.spec.deployers ?? [])] },
      dataPlane: { kubeconfig },
    },
  });
  const status = { landscaperDeployment: { name: where.name, namespace: where.namespace! } };
  const { metadata, status: found } = object as Deployment;
  if (!changed && found?.observedGeneration === metadata.generation && found?.phase === 'Succeeded') {
    return { status, readiness: { ready: true } };
  }
  const readiness = { ready: false, reason: 'WaitingForLaaS', message: stateText(object as Deployment) } as const;
  return { status, readiness, requeueAfterMs: pollMs };
}

/** One that is there stays as it is: several control planes share it, and each would put its own name on it. */
async function ensureNamespace(core: ComponentClient, name: string, labels: Record<string, string>): Promise<void> {
  if ((await core.get(Namespace, { name })) !== undefined) return;
  try {
    await core.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Takes it back, and waits until the service has let go. */
export async function removeDeployment(context: ComponentContext<'Landscaper'>, core: ComponentClient) {
  const where = await findDeployment(context, core);
  const present = (await core.get(LandscaperDeployment, where)) as Deployment | undefined;
  if (present === undefined) return { status: { landscaperDeployment: undefined } };
  await core.delete(LandscaperDeployment, where, { preconditions: { uid: present.metadata.uid } });
  if ((await core.get(LandscaperDeployment, where)) === undefined) return undefined;
  const waiting = { reason: 'WaitingForLaaS', message: stateText(present) } as const;
  return { waiting, requeueAfterMs: pollMs };
}

/** Where it is: as remembered, as found by its labels, or where it will be made. */
async function findDeployment(context: ComponentContext<'Landscaper'>, core: ComponentClient): Promise<ObjectKey> {
  const remembered = context.component.status?.landscaperDeployment;
  if (remembered && (await core.get(LandscaperDeployment, remembered)) !== undefined) return { ...remembered };
  const found: ObjectKey[] = [];
  for await (const { metadata } of core.list(LandscaperDeployment, { labelSelector: backReferences(context.key) })) {
    found.push({ name: metadata.name!, namespace: metadata.namespace });
  }
  if (found.length > 1) {
    const all = found.map(({ namespace, name }) => `${namespace}/${name}`).join(', ');
    throw new ComponentError(
      'LaaSCoreClusterInteractionProblem',
      `there are ${found.length} LandscaperDeployments for this control plane (${all}); remove all but one`,
    );
  }
  return found[0] ?? context.key;
}

function stateText({ status }: Deployment): string {
  const { operation = '', reason = '', message = '' } = status?.lastError ?? {};
  if (status?.lastError) return `[${operation}] ${reason} - ${message}`;
  return `LandscaperDeployment phase: ${status?.phase ?? 'none yet'}`;
}
