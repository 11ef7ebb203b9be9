import { Deployment, StatefulSet, type Client } from '@slipway/kube';

import { argo } from '../argo/words.ts';
import { names } from '../names.ts';

export const argoControllers = {
  namespace: names.argoNamespace,
  labelSelector: `app.kubernetes.io/name=${argo.controllerName}`,
};

/** Whether Argo CD's own controller is installed here: then the Applications are its business. A watch says when to ask again. */
export class ArgoPresence {
  #present: boolean | undefined;

  forget(): void {
    this.#present = undefined;
  }

  async isPresent(client: Client, signal: AbortSignal): Promise<boolean> {
    this.#present ??= await isInstalled(client, signal);
    return this.#present;
  }
}

async function isInstalled(client: Client, signal: AbortSignal): Promise<boolean> {
  for (const kind of [StatefulSet, Deployment]) {
    for await (const { spec, metadata } of client.list(kind, { ...argoControllers, signal })) {
      // Scaled to nothing, or on its way out, it does nothing.
      if (spec?.replicas !== 0 && metadata.deletionTimestamp === undefined) return true;
    }
  }
  return false;
}
