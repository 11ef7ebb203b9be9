import { type KubeObject, type ObjectOf, seconds } from '@slipway/kube';

import { applyOnce } from '../apply-once.ts';
import { secondArchitectureReferences } from '../back-references.ts';
import type { ComponentCondition } from '../component/component-resource.ts';
import type { ComponentContext, ComponentOutcome } from '../component/define-component.ts';
import { LandscaperV2 } from './kinds.ts';

type LandscaperCondition = NonNullable<NonNullable<ObjectOf<typeof LandscaperV2>['status']>['conditions']>[number];

const pollMs = seconds(30);

/** Makes the Landscaper of the second architecture, whose own controller does the rest. */
export async function applyLandscaperV2(
  context: ComponentContext<'Landscaper'>,
  version: string,
): Promise<ComponentOutcome<'Landscaper'>> {
  const { object } = await applyOnce(context.client, LandscaperV2, {
    apiVersion: LandscaperV2.apiVersion,
    kind: LandscaperV2.kind,
    metadata: { ...context.key, labels: secondArchitectureReferences(context.key) },
    spec: { version },
  } as KubeObject);
  const { metadata, status } = object as ObjectOf<typeof LandscaperV2>;
  const conditions: ComponentCondition[] = [
    { type: 'LandscaperV2ResourceCreatedOrUpdated', status: 'True' },
    ...(status?.conditions ?? []).map(exported),
  ];
  if (status?.phase === 'Ready' && status.observedGeneration === metadata.generation) {
    return { conditions, readiness: { ready: true } };
  }
  const message = `Landscaper phase: ${status?.phase ?? 'none yet'}`;
  return { conditions, readiness: { ready: false, reason: 'WaitingForLaaS', message }, requeueAfterMs: pollMs };
}

export async function removeLandscaperV2(context: ComponentContext<'Landscaper'>) {
  await context.client.delete(LandscaperV2, context.key);
  if ((await context.client.get(LandscaperV2, context.key)) === undefined) return undefined;
  const waiting = { reason: 'WaitingForLaaS', message: 'Waiting for the Landscaper to be deleted.' } as const;
  const condition = { type: 'LandscaperV2ResourceDeleted', status: 'False', ...waiting } as const;
  return { waiting, conditions: [condition], requeueAfterMs: pollMs };
}

function exported({ type, status, reason, message }: LandscaperCondition): ComponentCondition {
  const known = status === 'True' || status === 'False' ? status : 'Unknown';
  return {
    type: `LSv2_${type}`,
    status: known,
    reason: reason ?? 'NoReason',
    message: message ?? `${type} is ${status}`,
  };
}
