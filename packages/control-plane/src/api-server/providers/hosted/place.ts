import type { DeepReadonly, KubeObject, ObjectMeta } from '@slipway/kube';

import type { APIServer } from '../../../api/components.ts';
import { backReferences } from '../../../back-references.ts';
import type { ComponentClient } from '../../../component/guarded-client.ts';
import { platformNamespace } from '../../../name-hashes.ts';
import type { HostedSettings } from './settings.ts';

/** A hosted control plane on its host cluster: a namespace of its own, in which everything has a fixed name. */
export interface Place {
  readonly client: ComponentClient;
  readonly settings: HostedSettings;
  readonly namespace: string;
  /** On everything of it. */
  readonly labels: Readonly<Record<string, string>>;
  /** The APIServer it belongs to. */
  readonly apiServer: DeepReadonly<APIServer>;
  readonly nowMs: number;
}

/** Names of the objects in the namespace. */
export const objectNames = {
  apiServer: 'apiserver',
  etcd: 'etcd',
  controllerManager: 'controller-manager',
  authentication: 'authentication',
  serviceAccountKeys: 'service-account',
} as const;

export const ports = { apiServer: 6443, etcdClient: 2379, etcdPeer: 2380, etcdHealth: 2381, controllerManager: 10257 };

export function placeOf(
  apiServer: DeepReadonly<APIServer>,
  parts: Pick<Place, 'client' | 'settings' | 'nowMs'>,
): Place {
  const { namespace = '', name = '' } = apiServer.metadata;
  return {
    ...parts,
    apiServer,
    namespace: platformNamespace(namespace, name),
    labels: { ...backReferences({ namespace, name }), 'app.kubernetes.io/managed-by': 'slipway' },
  };
}

/** Metadata of an object in it. */
export function metadataIn({ namespace, labels }: Place, name: string, more: Record<string, string> = {}): ObjectMeta {
  return { name, namespace, labels: { ...labels, ...more } };
}

/** Name of the API server inside the host cluster. Without the cluster's domain, which we do not know. */
export function insideHost({ namespace }: Place): string {
  return `${objectNames.apiServer}.${namespace}.svc`;
}

export function insideUrl(place: Place): string {
  return `https://${insideHost(place)}:${ports.apiServer}`;
}

/** An object as the API has it; the kinds' own types are too strict for what is only written. */
export function object(
  apiVersion: string,
  kind: string,
  metadata: ObjectMeta,
  rest: Record<string, unknown>,
): KubeObject {
  return { apiVersion, kind, metadata, ...rest };
}
