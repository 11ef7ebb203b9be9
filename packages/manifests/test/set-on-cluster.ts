import { createClient, type Client, type KubeObject, type Transport, type TransportRequest } from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';

import {
  AppliedMemo,
  applySet,
  membershipOf,
  refText,
  type ApplySetOptions,
  type Membership,
  type SetResult,
} from '../src/index.ts';

/** A set with a name of its own, its requests on record. */
export interface TestSet {
  readonly client: Client;
  readonly fieldManager: string;
  readonly membership: Membership;
  /** `GET /api/v1/…`, one a request, without query; dry runs end in ` (dry run)`. */
  readonly requests: string[];
  apply(objects: readonly KubeObject[], options?: Partial<ApplySetOptions>): Promise<SetResult>;
}

/** @param before told of each request before it is sent */
export function testSet(
  cluster: TestCluster,
  name: string,
  before: (request: string) => Promise<void> = () => Promise.resolve(),
): TestSet {
  const requests: string[] = [];
  const client = createClient({
    transport: recorded(cluster.transport(), requests, before),
    fieldManager: name,
    clock: cluster.clock,
  });
  const membership = membershipOf(name);
  return {
    client,
    fieldManager: name,
    membership,
    requests,
    apply: (objects, options = {}) => applySet({ client, objects, fieldManager: name, membership, ...options }),
  };
}

function recorded(inner: Transport, requests: string[], before: (request: string) => Promise<void>): Transport {
  return {
    async send(request, signal) {
      requests.push(requestText(request));
      await before(requestText(request));
      return await inner.send(request, signal);
    },
    open: (request, handler) => inner.open(request, handler),
    close: () => inner.close(),
  };
}

function requestText({ method, path }: TransportRequest): string {
  return `${method} ${path.split('?')[0]}${path.includes('dryRun=All') ? ' (dry run)' : ''}`;
}

export function writes(requests: readonly string[]): string[] {
  return requests.filter((request) => !request.startsWith('GET ') && !request.endsWith('(dry run)'));
}

/** `ConfigMap shop/a` → what became of it. */
export function actions(result: SetResult): Record<string, string> {
  return Object.fromEntries(result.members.map((member) => [refText(member.ref), member.action]));
}

export function messages(result: SetResult): string {
  return result.members.map((member) => `${refText(member.ref)}: ${member.message ?? ''}`).join('\n');
}

let namespaces = 0;

/** A namespace for one test, so that tests can share a cluster. */
export async function freshNamespace(cluster: TestCluster): Promise<string> {
  namespaces += 1;
  const name = `room-${namespaces}`;
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

export function configMap(
  namespace: string,
  name: string,
  data: Record<string, string> = {},
  annotations?: Record<string, string>,
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name, ...(annotations ? { annotations } : {}) },
    data,
  };
}

/** A Deployment; with `nodeSelector` its pods find no node. */
export function deployment(namespace: string, name: string, podSpec: Record<string, unknown> = {}): KubeObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main:1' }], ...podSpec } },
    },
  };
}

/** A definition of `Gadget`s in a group of its own. */
export function gadgetDefinition(group: string, scope: 'Namespaced' | 'Cluster' = 'Namespaced'): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope,
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    size: { type: 'integer', minimum: 1 },
                    fixed: {
                      type: 'string',
                      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is immutable' }],
                    },
                  },
                },
                status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          },
        },
      ],
    },
  };
}

/** A memo for several passes over one set. */
export function memory(): AppliedMemo {
  return new AppliedMemo();
}
