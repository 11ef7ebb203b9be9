import { AsyncLocalStorage } from 'node:async_hooks';
import { keyText, type ObjectKey } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';

const lanes = new AsyncLocalStorage<string>();

/** Who a request comes from: the controller and the object it works on. Empty outside of a reconciliation. */
export function laneOfCaller(): string {
  return lanes.getStore() ?? '';
}

/** The same controllers, but their requests can be told apart although they share a connection. */
export function inLanes(controllers: readonly Controller[]): Controller[] {
  return controllers.map((controller) => {
    const lane = (key: ObjectKey) => `${controller.name} ${keyText(key)}`;
    const { finalize } = controller;
    return {
      ...controller,
      reconcile: (context, key) => lanes.run(lane(key), () => controller.reconcile(context, key)),
      finalize: finalize && {
        ...finalize,
        run: (context, object) => {
          const { namespace, name = '' } = object.metadata;
          return lanes.run(lane(namespace ? { namespace, name } : { name }), () => finalize.run(context, object));
        },
      },
    };
  });
}
