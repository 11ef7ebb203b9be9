import type { DeepReadonly, KubeObject } from '@slipway/kube';

import type { ComponentType } from '../component/component-type.ts';
import type { ArchitectureChoice, Architectures, ArchitectureVersion } from '../config/architectures.ts';
import { names } from '../names.ts';

const onlyFirst: ArchitectureChoice = { version: 'v1', allowOverride: false };

/** The architecture of a component: its default, or what a label of the ManagedControlPlane asks for. */
export function architectureOf(
  type: ComponentType,
  mcp: DeepReadonly<KubeObject>,
  architectures: Architectures,
): ArchitectureVersion {
  const choice = (architectures as Partial<Record<ComponentType, ArchitectureChoice>>)[type] ?? onlyFirst;
  const label = `${type.toLowerCase()}.${names.architectureLabel}`;
  const asked = mcp.metadata.labels?.[label];
  if (asked === undefined) return choice.version;
  if (!choice.allowOverride) {
    throw new ArchitectureError(
      `architecture version override is not allowed for component '${type}', remove the '${label}' label`,
    );
  }
  if (asked !== 'v1' && asked !== 'v2') {
    throw new ArchitectureError(`architecture version '${asked}' is not allowed for component '${type}'`);
  }
  return asked;
}

export class ArchitectureError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ArchitectureError';
  }
}
