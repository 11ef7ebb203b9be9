import {
  ConfigMap,
  isNotFound,
  NetworkPolicy,
  Secret,
  type DeepReadonly,
  type Kind,
  type KubeObject,
} from '@slipway/kube';
import { defaultWave } from '@slipway/manifests';

import { names, ownSelector } from '../names.ts';
import { credentialsNamespace, hasRequiredKeys } from '../resources/required-secret.ts';
import { credentialNamespaces } from './drift.ts';
import { readSecret } from './credentials.ts';
import type { BtpRun } from './run.ts';
import { countOf, listServiceResources } from './service-resources.ts';

export type RemovalOutcome =
  | { readonly state: 'done' }
  /** Something is still on its way out. */
  | { readonly state: 'waiting'; readonly what: string }
  /** A service instance or binding has appeared: the definitions must stay. */
  | { readonly state: 'blocked' };

/**
 * Step 11: deletes everything with our label, kind by kind as the files of the module name them, in the reverse of the order
 * in which it was applied: the service operator goes before the definitions of its kinds. What the user made (the required
 * Secret, the ConfigMap with settings) stays whatever its label.
 */
export async function removeModule(run: BtpRun): Promise<RemovalOutcome> {
  const { settings } = run;
  const files = await run.workshop.loader.load(settings);
  const secret = await readSecret(run);
  const spread = await credentialNamespaces(run);
  const left: string[] = [];
  for (const kind of await kindsToRemove(run, [...files.apply, ...files.outdated])) {
    if (kind.kind === 'CustomResourceDefinition' && countOf(await listServiceResources(run)) > 0)
      return { state: 'blocked' };
    left.push(...(await removeKind(run, kind)));
    // What runs must be gone before what it runs on.
    if (left.length > 0) return { state: 'waiting', what: left.join(', ') };
  }
  const previous = secret?.metadata.annotations?.[names.previousNamespaceAnnotation];
  const places = [settings.chartNamespace, credentialsNamespace(secret, settings), previous, ...spread];
  for (const namespace of new Set(places)) if (namespace) await removeCredentials(run, namespace);
  if (secret) await clearNotes(run, secret);
  return { state: 'done' };
}

async function kindsToRemove(run: BtpRun, objects: readonly KubeObject[]): Promise<Kind[]> {
  const wanted = new Map<string, Pick<KubeObject, 'apiVersion' | 'kind'>>();
  for (const object of [...objects, Secret, NetworkPolicy])
    wanted.set(`${object.apiVersion}/${object.kind}`, { apiVersion: object.apiVersion, kind: object.kind });
  const kinds: Kind[] = [];
  for (const { apiVersion, kind } of [...wanted.values()].sort((a, b) => defaultWave(b) - defaultWave(a))) {
    try {
      kinds.push(await run.context.client.resolve(apiVersion, kind));
    } catch (error) {
      // A kind that is not served has no objects.
      if (!isNotFound(error)) throw error;
    }
  }
  return kinds;
}

/** Deletes the objects of one kind and names those that are still there. */
async function removeKind(run: BtpRun, kind: Kind): Promise<string[]> {
  const { client } = run.context;
  const scope = {
    ...(kind.scope === 'Namespaced' ? { namespace: run.settings.chartNamespace } : {}),
    labelSelector: ownSelector,
    ...(kind.group === '' ? { fieldSelector: await exceptInputs(run, kind) } : {}),
  };
  const found = await listNames(run, kind, scope);
  if (found.length === 0) return [];
  if (found.some((object) => !object.terminating))
    await client.deleteCollection(kind, { ...scope, propagationPolicy: 'Background' });
  return (await listNames(run, kind, scope)).map(({ name, finalizers }) =>
    finalizers ? `${kind.kind} ${name} (finalizers: ${finalizers})` : `${kind.kind} ${name}`,
  );
}

/** Leaves out what the user made. A required Secret is known by its keys too: settings may have named another one a moment ago. */
async function exceptInputs({ context, settings }: BtpRun, { kind }: Kind): Promise<string> {
  const inputs = new Set<string>();
  if (kind === ConfigMap.kind) inputs.add(settings.configName);
  if (kind === Secret.kind) {
    inputs.add(settings.secretName);
    const scope = { namespace: settings.chartNamespace, labelSelector: ownSelector };
    for await (const secret of context.client.list(Secret, scope))
      if (hasRequiredKeys(secret)) inputs.add(secret.metadata.name!);
  }
  return [...inputs].map((name) => `metadata.name!=${name}`).join(',');
}

async function listNames(run: BtpRun, kind: Kind, scope: object) {
  const found: { name: string; terminating: boolean; finalizers: string }[] = [];
  try {
    for await (const { metadata } of run.context.client.list(kind, scope))
      found.push({
        name: metadata.name!,
        terminating: metadata.deletionTimestamp !== undefined,
        finalizers: (metadata.finalizers ?? []).join(', '),
      });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return found;
}

/** Credentials may lie in a namespace of the user's choice. The Secret we made goes last: by it the namespace is known. */
async function removeCredentials(run: BtpRun, namespace: string): Promise<void> {
  const { client } = run.context;
  await client.delete(Secret, { namespace, name: names.clusterIdSecret });
  const credentials = await client.get(Secret, { namespace, name: names.credentialsSecret });
  if (credentials?.metadata.labels?.[names.managedByLabel] !== names.managedByUs) return;
  await client.delete(
    Secret,
    { namespace, name: names.credentialsSecret },
    { preconditions: { uid: credentials.metadata.uid! } },
  );
}

async function clearNotes(run: BtpRun, secret: DeepReadonly<Secret>): Promise<void> {
  const notes = [names.previousNamespaceAnnotation, names.previousClusterIdAnnotation].filter(
    (annotation) => secret.metadata.annotations?.[annotation] !== undefined,
  );
  if (notes.length === 0) return;
  const annotations = Object.fromEntries(notes.map((annotation) => [annotation, null]));
  await run.context.client.patch(
    Secret,
    { namespace: secret.metadata.namespace, name: secret.metadata.name! },
    { type: 'merge', body: { metadata: { annotations } } },
  );
}
