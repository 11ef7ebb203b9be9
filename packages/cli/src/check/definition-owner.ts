import type { CustomResourceDefinition, DeepReadonly } from '@slipway/kube';

import { installMembership } from '../installed-set.ts';

/** Who brought a definition. */
export interface DefinitionOwner {
  /** For a sentence: `from slipway install`. */
  readonly text: string;
  /** Neither this command nor our chart. */
  readonly isForeign: boolean;
  readonly next: string;
}

/** Who says so on the definition itself, or wrote its spec last. */
export function definitionOwner({ metadata }: DeepReadonly<CustomResourceDefinition>): DefinitionOwner {
  const release = metadata.annotations?.['meta.helm.sh/release-name'];
  if (release !== undefined) {
    const namespace = metadata.annotations?.['meta.helm.sh/release-namespace'] ?? 'default';
    return {
      text: `from Helm release ${release} in namespace ${namespace}`,
      isForeign: true,
      next: `go on with helm upgrade ${release} -n ${namespace}, or take over with slipway install --adopt once the release is gone`,
    };
  }
  if (metadata.labels?.[installMembership.label] !== undefined)
    return { text: 'from slipway install', isForeign: false, next: '' };
  const writers = (metadata.managedFields ?? []).filter(({ subresource }) => subresource === undefined);
  const manager = writers.at(-1)?.manager ?? 'somebody';
  if (manager === 'slipway') return { text: 'from slipway run', isForeign: false, next: '' };
  return {
    text: `from ${manager}`,
    isForeign: true,
    next: manager.startsWith('kubectl')
      ? 'kubectl apply --server-side of the output of `slipway crds` brings it up to date'
      : `slipway install takes it over; ${manager} should let go of it first`,
  };
}
