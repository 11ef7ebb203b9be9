import { ConfigMap, isConditionFalse, Pod, Secret, type DeepReadonly } from '@slipway/kube';

import { names, ownSelector } from '../names.ts';
import type { Credentials } from '../resources/required-secret.ts';
import type { BtpRun } from './run.ts';
import { orRefuse } from './status.ts';

/** Where the service operator stands, next to where the required Secret wants it. */
export interface Drift {
  /** Namespaces other than the wanted one that hold credentials of ours. */
  readonly oldNamespaces: readonly string[];
  /** Where the credentials are now: the wanted namespace when there are none yet. */
  readonly actualNamespace: string;
  /** What the service operator was told last; `undefined` before it was told anything. */
  readonly recordedClusterId: string | undefined;
}

/** Compares the cluster with the required Secret. Reads only. */
export async function findDrift(run: BtpRun, secret: DeepReadonly<Secret>, credentials: Credentials): Promise<Drift> {
  const { client } = run.context;
  const found = await orRefuse('GettingDefaultCredentialsSecretFailed', () => credentialNamespaces(run));
  const previous = secret.metadata.annotations?.[names.previousNamespaceAnnotation];
  // With the wanted one in place, another beside it is a left-over, not the place in use.
  const inUse = [credentials.namespace, previous].find((namespace) => namespace && found.includes(namespace));
  const config = await orRefuse('GettingSapBtpServiceOperatorConfigMapFailed', () =>
    client.get(ConfigMap, { namespace: run.settings.chartNamespace, name: names.operatorConfigMap }),
  );
  return {
    oldNamespaces: found.filter((namespace) => namespace !== credentials.namespace),
    actualNamespace: inUse ?? found[0] ?? credentials.namespace,
    recordedClusterId: config ? (config.data?.['CLUSTER_ID'] ?? '') : undefined,
  };
}

/** Namespaces with a credentials Secret of ours, sorted. */
export async function credentialNamespaces(run: BtpRun): Promise<string[]> {
  const namespaces: string[] = [];
  for await (const secret of run.context.client.list(Secret, {
    labelSelector: ownSelector,
    fieldSelector: `metadata.name=${names.credentialsSecret}`,
  }))
    namespaces.push(secret.metadata.namespace!);
  return namespaces.sort();
}

/** Notes on the required Secret what was in force before, for people and for the next pass. */
export async function noteDrift(
  run: BtpRun,
  secret: DeepReadonly<Secret>,
  credentials: Credentials,
  drift: Drift,
): Promise<void> {
  const wanted: Record<string, string> = {};
  if (drift.actualNamespace !== credentials.namespace)
    wanted[names.previousNamespaceAnnotation] = drift.actualNamespace;
  if (drift.recordedClusterId && drift.recordedClusterId !== credentials.clusterId)
    wanted[names.previousClusterIdAnnotation] = drift.recordedClusterId;
  await annotate(run, secret, wanted);
}

async function annotate(
  run: BtpRun,
  secret: DeepReadonly<Secret>,
  wanted: Readonly<Record<string, string>>,
): Promise<void> {
  const present = secret.metadata.annotations ?? {};
  const news = Object.entries(wanted).filter(([key, value]) => present[key] !== value);
  if (news.length === 0) return;
  await orRefuse('AnnotatingSecretFailed', () =>
    run.context.client.patch(
      Secret,
      { namespace: secret.metadata.namespace, name: secret.metadata.name! },
      { type: 'merge', body: { metadata: { annotations: Object.fromEntries(news) } } },
    ),
  );
}

/**
 * The service operator stores the cluster id it first started with and refuses to start with another. What it stored under an
 * id that is not wanted any more has to go before its pods are replaced. A pod that is not ready may be one that refused to
 * start: it is deleted so that it does not sit out its back-off.
 */
export async function removeStaleClusterId(
  run: BtpRun,
  secret: DeepReadonly<Secret>,
  credentials: Credentials,
  drift: Drift,
): Promise<void> {
  const { client } = run.context;
  for (const namespace of new Set([...drift.oldNamespaces, credentials.namespace])) {
    const key = { namespace, name: names.clusterIdSecret };
    const stored = await orRefuse('GettingSapBtpServiceOperatorClusterIdSecretFailed', () => client.get(Secret, key));
    if (!stored) continue;
    const id = Buffer.from(stored.data?.['INITIAL_CLUSTER_ID'] ?? '', 'base64').toString('utf8');
    if (id === '' || id === credentials.clusterId) continue;
    await annotate(run, secret, { [names.previousClusterIdAnnotation]: id });
    await orRefuse('DeletionOfOrphanedResourcesFailed', () =>
      client.delete(Secret, key, { preconditions: { uid: stored.metadata.uid! } }),
    );
    await orRefuse(
      'ResourceRemovalFailed',
      () => deleteUnreadyPods(run),
      'while restarting SAP BTP service operator pod: ',
    );
  }
}

async function deleteUnreadyPods(run: BtpRun): Promise<void> {
  const { client } = run.context;
  const { chartNamespace } = run.settings;
  for await (const pod of client.list(Pod, { namespace: chartNamespace, labelSelector: names.operatorPods }))
    if (isConditionFalse(pod as never, 'Ready') && pod.metadata.deletionTimestamp === undefined)
      await client.delete(
        Pod,
        { namespace: chartNamespace, name: pod.metadata.name! },
        {
          preconditions: { uid: pod.metadata.uid! },
        },
      );
}

/**
 * Takes away what the old credentials namespace still holds, once the new one is complete. The credentials Secret goes last: it
 * is by that Secret that a later pass knows of the namespace.
 */
export async function removeSuperseded(run: BtpRun, drift: Drift): Promise<void> {
  const { client } = run.context;
  for (const namespace of drift.oldNamespaces)
    await orRefuse('ResourceRemovalFailed', async () => {
      // An object that is gone already is as good as one that was deleted.
      await client.delete(Secret, { namespace, name: names.clusterIdSecret });
      await client.delete(Secret, { namespace, name: names.credentialsSecret });
    });
}
