import { type ComponentDefinition, readyAsFound } from '../component/define-component.ts';
import type { CoreCluster } from '../core-cluster.ts';
import { handedOver } from '../handed-over.ts';
import { TargetWatch } from '../target/target-watch.ts';
import type { ConnectTarget } from '../target/target.ts';
import type { Catalogue } from './catalogue.ts';
import { applyControlPlane, ControlPlane, removeControlPlane } from './hand-off.ts';
import { installParts, uninstallParts } from './native.ts';

export interface CloudOrchestratorOptions {
  readonly connect: ConnectTarget;
  /** Who does the work: somebody who watches ControlPlanes on a core cluster, or we ourselves from a catalogue. */
  readonly work: { readonly core: CoreCluster } | { readonly catalogue: Catalogue };
  /** How often ControlPlanes are looked at. Default: 30 s. */
  readonly lookEveryMs?: number;
}

/** The component that brings Crossplane and its companions to a control plane. */
export function cloudOrchestratorComponent({
  connect,
  work,
  lookEveryMs,
}: CloudOrchestratorOptions): ComponentDefinition<'CloudOrchestrator'> {
  const targetWatch = new TargetWatch();
  return {
    type: 'CloudOrchestrator',
    dependsOn: ['APIServer', 'Authentication', 'Authorization'],
    targetWatch,
    sources: 'core' in work ? [handedOver(ControlPlane, work.core, lookEveryMs)] : [],
    apply: async (context) =>
      'core' in work
        ? await applyControlPlane(context, work.core)
        : await installParts(context, { connect, targetWatch }, work.catalogue),
    isReady: readyAsFound,
    remove: async (context) =>
      'core' in work
        ? await removeControlPlane(context, await work.core(context))
        : await uninstallParts(context, connect),
  };
}
