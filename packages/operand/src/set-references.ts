import { controllerOf, ownerReference, type DeepReadonly, type KubeObject, type OwnerReference } from '@slipway/kube';

import { Operand } from './api.ts';

type Set = DeepReadonly<Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>>;

/** What a member carries to belong to a set. */
export function memberReferenceTo(set: Set): OwnerReference {
  return { ...ownerReference(set), controller: false, blockOwnerDeletion: true };
}

/** The Operand a set belongs to; `undefined` for a set made by hand, or left behind by an Operand that went without its objects. */
export function operandOf(set: Set): OwnerReference | undefined {
  const controller = controllerOf(set);
  return controller?.kind === Operand.kind && controller.apiVersion === Operand.apiVersion ? controller : undefined;
}
