import type { JsonObject } from '../object.ts';
import type { Admission } from './admission.ts';

const notReady: JsonObject = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** A new node takes no pods until whoever watches over nodes has seen it ready. */
export function newNodeTaint(): Admission {
  return {
    mutate({ operation, resource, subresource, object }) {
      if (operation !== 'CREATE' || resource.group !== '' || resource.plural !== 'nodes' || subresource || !object) {
        return;
      }
      const spec = (object['spec'] ?? {}) as { taints?: JsonObject[] };
      const taints = spec.taints ?? [];
      if (taints.some(({ key, effect }) => key === notReady['key'] && effect === notReady['effect'])) return;
      object['spec'] = { ...spec, taints: [...taints, { ...notReady }] };
    },
    validate: () => undefined,
  };
}
