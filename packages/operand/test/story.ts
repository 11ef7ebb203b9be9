import { createHash } from 'node:crypto';
import { isConditionTrue, type KubeObject, type Transport, type TransportRequest } from '@slipway/kube';
import { inLanes, testCluster, type TestCluster, type TestClusterOptions, type TestManager } from '@slipway/testing';

import { activeOperandControllers } from '../src/active/controllers.ts';
import { ActiveOperand, ClusterActiveOperand, Operand } from '../src/api.ts';
import { operandController } from '../src/operand/controller.ts';

export const kinds = [Operand, ClusterActiveOperand, ActiveOperand];

/** A cluster with the operator's kinds. */
export function operandCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  return testCluster({ ...options, kinds: [...kinds, ...(options.kinds ?? [])] });
}

export type Hook = (request: TransportRequest, phase: 'before' | 'after') => void | Promise<void>;

/** Runs the operator; `hook` sees each of its requests before it is sent and after it was answered. */
export function runOperator(cluster: TestCluster, hook?: Hook): Promise<TestManager> {
  const transport = cluster.transport();
  return runOperatorThrough(cluster, hook ? hooked(transport, hook) : transport);
}

/** Runs the operator, which reaches the cluster in this way. */
export function runOperatorThrough(cluster: TestCluster, transport: Transport): Promise<TestManager> {
  return cluster.run(inLanes([operandController(), ...activeOperandControllers()]), { cluster: { transport } });
}

function hooked(inner: Transport, hook: Hook): Transport {
  return {
    async send(request, signal) {
      await hook(request, 'before');
      const response = await inner.send(request, signal);
      await hook(request, 'after');
      return response;
    },
    open: (request, handler) => inner.open(request, handler),
    close: () => inner.close(),
  };
}

/** Runs the operator until it has made this many writes, and ends it there. */
export async function diesAfter(cluster: TestCluster, most: number): Promise<void> {
  let writes = 0;
  const dying = await runOperator(cluster, (request, phase) => {
    if (phase === 'after' && request.method !== 'GET' && ++writes === most) void dying.stop();
  });
  await cluster.eventually('it died', () => writes >= most);
  await dying.stop();
}

export function configMap(
  name: string,
  data: Record<string, string> = {},
  metadata: Record<string, unknown> = {},
): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name, ...metadata }, data };
}

/** A member that can never be applied: its namespace does not exist. */
export const impossible: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'nowhere', name: 'lost' },
};

export function deployment(name: string, image = 'web:1'): KubeObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
    },
  };
}

/** The definition of a namespaced kind whose objects may hold anything, with a status of its own. */
export function definitionOf(group: string, kind: string): KubeObject {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular, kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
}

export function operand(
  name: string,
  steadyState: readonly KubeObject[],
  extra: Record<string, unknown> = {},
): Operand {
  return {
    apiVersion: Operand.apiVersion,
    kind: 'Operand',
    metadata: { name },
    spec: { checkDeploymentHealth: false, steadyState, ...extra },
  } as unknown as Operand;
}

export async function changeTo(
  cluster: TestCluster,
  name: string,
  steadyState: readonly KubeObject[],
  extra: Record<string, unknown> = {},
): Promise<void> {
  await cluster.client.patch(Operand, { name }, { type: 'merge', body: { spec: { steadyState, ...extra } } });
}

/** The Operand once it is ready for its present generation. */
export async function readyOperand(cluster: TestCluster, name: string): Promise<Operand> {
  return await cluster.eventually(`Operand ${name} is ready`, async () => {
    const found = await cluster.client.get(Operand, { name });
    return found && isConditionTrue(found, 'Ready') && found.status?.observedGeneration === found.metadata.generation
      ? found
      : undefined;
  });
}

/** The Operand once `OperandInstalled` of its present generation has this reason. */
export async function operandWithReason(cluster: TestCluster, name: string, reason: string): Promise<Operand> {
  return await cluster.eventually(`Operand ${name} says ${reason}`, async () => {
    const found = await cluster.client.get(Operand, { name });
    const installed = found?.status?.conditions?.find((condition) => condition.type === 'OperandInstalled');
    return found && found.status?.observedGeneration === found.metadata.generation && installed?.reason === reason
      ? found
      : undefined;
  });
}

export function installMessage(found: Operand): string {
  return found.status?.conditions?.find((condition) => condition.type === 'OperandInstalled')?.message ?? '';
}

export async function setsOf(cluster: TestCluster): Promise<ClusterActiveOperand[]> {
  return await Array.fromAsync(cluster.client.list(ClusterActiveOperand));
}

/** Printable characters without a pattern, none that JSON or Go escapes: packed and made text again they are longer than before. */
export function noise(length: number, seed: number): string {
  const blocks = Array.from({ length: Math.ceil(length / 64) }, (_, i) =>
    createHash('sha512').update(`${seed}/${i}`).digest(),
  );
  const bytes = Buffer.concat(blocks).subarray(0, length);
  return Buffer.from(bytes.map((byte) => 0x23 + (byte % 0x5b)))
    .toString('latin1')
    .replaceAll(/[\\<>&]/g, '/');
}
