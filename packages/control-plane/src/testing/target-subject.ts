import { type Clock, createClient, type KubeObject, type Transport } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';
import type { TestCluster, TestClusterOptions } from '@slipway/testing';

import { externalStatusOf } from '../component/component-type.ts';
import { tokenKubeconfig } from '../target/kubeconfig.ts';
import type { ConnectTarget, Target } from '../target/target.ts';
import type { ContractSubject } from './contract-stage.ts';

/** A token that must not get anywhere a customer can look. */
export const canary = 'canary-token-0123456789abcdef';
export const serverUrl = 'https://target.example.com:6443';

/** Gets at the test's own cluster whatever the kubeconfig says, or at nothing. */
export class TargetStandIn {
  broken = false;
  readonly connect: ConnectTarget;

  constructor(cluster: () => TestCluster) {
    this.connect = async () => {
      if (this.broken) throw new Error(`no route to ${serverUrl} with ${canary}`);
      return watchable(cluster().transport(), cluster().clock, () => cluster().transport());
    };
  }
}

/** The control plane behind a transport, which can be watched too. */
export function watchable(transport: Transport, clock: Clock, openTransport: () => Transport): Target {
  const fieldManager = 'control-plane';
  return {
    client: createClient({ transport, fieldManager, clock }),
    server: serverUrl,
    certificateAuthority: 'PEM',
    watching: { openTransport, clientFor: (cache) => createClient({ transport, fieldManager, clock, cache }) },
  };
}

/** The admin kubeconfig of that control plane. */
export const targetSecret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'default', name: 'target' },
  stringData: { kubeconfig: tokenKubeconfig({ server: serverUrl, token: canary, user: 'admin' }) },
} as KubeObject;

/** The status of an APIServer whose admin kubeconfig lies in that Secret. */
export const targetStatus = { adminAccess: { secretRef: { name: 'target', key: 'kubeconfig' } } };

export type TargetSubjectParts = Pick<ContractSubject, 'type' | 'dependsOn' | 'spec' | 'otherSpec' | 'hasMade'> & {
  readonly clusterOptions?: TestClusterOptions;
};

/**
 * A component that works on a control plane, for the checks: the test's own cluster plays the control plane too. Its work fails when the way there is broken.
 */
export function targetSubject(
  parts: TargetSubjectParts,
  make: (connect: ConnectTarget) => Controller,
): ContractSubject {
  let target: TargetStandIn | undefined;
  return {
    ...parts,
    controller: (cluster) => make((target = new TargetStandIn(() => cluster)).connect),
    prepare: async (cluster) => {
      await cluster.client.create(targetSecret);
      await warmTokens(cluster);
    },
    dependencyStatus: () => targetStatus,
    sabotage: (broken) => {
      if (target) target.broken = broken;
    },
    secrets: [canary],
    externalFields: externalStatusOf(parts.type),
  };
}

/** The first token makes the key for all, which takes real time; a clock that runs ahead must not have to wait for it. */
export async function warmTokens({ client }: TestCluster): Promise<void> {
  await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'default', name: 'warm' } });
  await client.request({
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts/warm/token',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
}
