import type { LocalClient, ObjectAddress } from '../local-client.ts';
import type { ApiObject } from '../object.ts';
import type { InformerSet } from './informer-set.ts';

/** A client whose successful writes show in the informers at once, so that no controller acts twice on what it just did. */
export function writeThrough(client: LocalClient, informers: InformerSet): LocalClient {
  const observe = (address: Partial<ObjectAddress>, object: ApiObject): ApiObject => {
    const whole = address.subresource === undefined || address.subresource === 'status';
    if (whole) {
      informers.observe(address as ObjectAddress, object);
    }
    return object;
  };
  return {
    get: (address) => client.get(address),
    list: (address, selection) => client.list(address, selection),
    create: async (address, object) => observe(address, await client.create(address, object)),
    update: async (address, object) => observe(address, await client.update(address, object)),
    patch: async (address, type, patch) => observe(address, await client.patch(address, type, patch)),
    async delete(address, request) {
      const answer = await client.delete(address, request);
      // An object that stays (grace, finalizers) carries its new state; one that went is reported by the watch.
      if (answer.kind !== 'Status' && (answer as ApiObject).metadata.deletionTimestamp !== undefined) {
        const object = answer as ApiObject;
        if ((object.metadata.finalizers ?? []).length > 0 || (object.metadata.deletionGracePeriodSeconds ?? 0) > 0) {
          observe(address, object);
        }
      }
      return answer;
    },
    watch: (address, request, handler) => client.watch(address, request, handler),
    resources: () => client.resources(),
    onResourcesChanged: (listener) => client.onResourcesChanged(listener),
  };
}
