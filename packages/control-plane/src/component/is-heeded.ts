import type { ObjectKey } from '@slipway/kube';

import { names, operations } from '../names.ts';
import { type ComponentType, kindOf } from './component-type.ts';
import type { ComponentCache } from './guarded-client.ts';

/** Whether there is such a component and its controller works on it: it does not while somebody has it ignored. */
export async function isHeeded(cache: ComponentCache, type: ComponentType, key: ObjectKey): Promise<boolean> {
  const found = await cache.get(kindOf(type), key);
  return found !== undefined && found.metadata.annotations?.[names.operationAnnotation] !== operations.ignore;
}
