import type { DeepReadonly } from '@slipway/kube';

import type { CloudOrchestrator } from '../api/components.ts';

/** What can be installed on a control plane. */
export const parts = ['crossplane', 'btpServiceOperator', 'externalSecretsOperator', 'kyverno', 'flux'] as const;

export type Part = (typeof parts)[number];

/** The parts a spec asks for, with their versions. */
export function wantedParts(spec: DeepReadonly<CloudOrchestrator['spec']>): [part: Part, version: string][] {
  return parts.flatMap((part) => {
    const configured = spec[part];
    return configured === undefined ? [] : [[part, configured.version] as [Part, string]];
  });
}
