import type { KubeObject } from '@slipway/kube';
import { conversionWebhook } from '@slipway/runtime';

import { Berth } from './api.ts';

/**
 * An object in another version. The versions have the same fields so far: where they differ, change `spec` here, in both
 * directions, so that an object that goes there and back is the same.
 */
export function convertBerth(object: KubeObject, apiVersion: string): KubeObject {
  return { ...object, apiVersion };
}

/** The API server asks it whenever somebody reads or writes another version than the stored one. */
export const berthConversion = conversionWebhook({
  group: Berth.group,
  kind: Berth.kind,
  plural: Berth.plural,
  convert: convertBerth,
});
