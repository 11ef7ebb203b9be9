import type { ComponentDefinition } from '../component/define-component.ts';
import { readyAsFound } from '../component/define-component.ts';
import { type CoreCluster, onboardingCluster } from '../core-cluster.ts';
import { handedOver } from '../handed-over.ts';
import { names } from '../names.ts';
import type { ConnectTarget } from '../target/target.ts';
import { applyDeployment, removeDeployment } from './deployment.ts';
import { LandscaperDeployment, LandscaperV2 } from './kinds.ts';
import { applyLandscaperV2, removeLandscaperV2 } from './second-architecture.ts';

export interface LandscaperOptions {
  readonly connect: ConnectTarget;
  /** Where LandscaperDeployments live. Default: the onboarding cluster. */
  readonly core?: CoreCluster;
  /** Which Landscaper the second architecture asks for. */
  readonly version?: string;
  /** How often what was handed over is looked at. Default: 30 s. */
  readonly lookEveryMs?: number;
}

/** The component that hands a control plane over to the Landscaper service. */
export function landscaperComponent({
  connect,
  core = onboardingCluster,
  version = 'v0.135.0',
  lookEveryMs,
}: LandscaperOptions): ComponentDefinition<'Landscaper'> {
  return {
    type: 'Landscaper',
    dependsOn: ['APIServer', 'Authentication', 'Authorization'],
    sources: [
      handedOver(LandscaperDeployment, core, lookEveryMs),
      handedOver(LandscaperV2, onboardingCluster, lookEveryMs),
    ],
    apply: async (context) =>
      context.component.metadata.labels?.[names.architectureLabel] === 'v2'
        ? await applyLandscaperV2(context, version)
        : await applyDeployment(context, core, connect),
    isReady: readyAsFound,
    remove: async (context) =>
      context.component.metadata.labels?.[names.architectureLabel] === 'v2'
        ? await removeLandscaperV2(context)
        : await removeDeployment(context, await core(context)),
  };
}
