import { isNotFound, isUnknownKind, type Kind } from '@slipway/kube';

import { ServiceBinding, ServiceInstance, type ServiceResource } from '../api.ts';
import type { BtpRun } from './run.ts';

export interface ServiceResources {
  readonly bindings: readonly ServiceResource[];
  readonly instances: readonly ServiceResource[];
}

/** All service instances and bindings of all namespaces, straight from the server. None when their kinds are not served. */
export async function listServiceResources(run: BtpRun): Promise<ServiceResources> {
  const [bindings, instances] = await Promise.all([listAll(run, ServiceBinding), listAll(run, ServiceInstance)]);
  return { bindings, instances };
}

export async function listAll(run: BtpRun, kind: Kind<ServiceResource>): Promise<ServiceResource[]> {
  const found: ServiceResource[] = [];
  try {
    for await (const object of run.context.client.list(kind)) found.push(object);
    return found;
  } catch (error) {
    if (isNotFound(error) || isUnknownKind(error)) return [];
    throw error;
  }
}

export function countOf({ bindings, instances }: ServiceResources): number {
  return bindings.length + instances.length;
}
