import type { DefinedKind } from '@slipway/kube';

import { APIServer, Authentication, Authorization, CloudOrchestrator, Landscaper } from '../api/components.ts';
import { externalStatus } from '../api/shared.ts';
import { names } from '../names.ts';

/** The components of a control plane, by type. A type is also the kind of its resource. */
export const componentKinds = { APIServer, Authentication, Authorization, Landscaper, CloudOrchestrator } as const;

export type ComponentType = keyof typeof componentKinds;

export const componentTypes = Object.keys(componentKinds) as ComponentType[];

export function isComponentType(text: string): text is ComponentType {
  return Object.hasOwn(componentKinds, text);
}

/** The kind of a component's resource, for code that treats all alike. */
export function kindOf(type: ComponentType): DefinedKind {
  return componentKinds[type] as unknown as DefinedKind;
}

const external = {
  APIServer: externalStatus.apiServer,
  Authentication: externalStatus.authentication,
  Authorization: externalStatus.authorization,
  Landscaper: externalStatus.landscaper,
  CloudOrchestrator: externalStatus.cloudOrchestrator,
} as const;

/** The fields of a component's status the customer may see: they are copied into the status of the ManagedControlPlane. */
export function externalStatusOf(type: ComponentType): readonly string[] {
  return Object.keys(external[type].properties);
}

/** What a component's controller puts on its own resource, such as `openmcp.cloud.apiserver`. */
export function finalizer(type: ComponentType): string {
  return `openmcp.cloud.${type.toLowerCase()}`;
}

/** What the original's controllers put there, such as `apiserver.openmcp.cloud`. Taken off with our own. */
export function originalFinalizer(type: ComponentType): string {
  return `${type.toLowerCase()}.openmcp.cloud`;
}

/** What a component's controller puts on the resources of the components it depends on. */
export function dependencyFinalizer(type: ComponentType): string {
  return `${names.dependencyFinalizerPrefix}${type.toLowerCase()}`;
}
