import { isConflict, isTransient, type Kind, type KubeObject } from '@slipway/kube';
import { applySet, failureText, planSet, waitingText, type SetResult } from '@slipway/manifests';

import { names } from '../names.ts';
import { Refusal, type Reason } from '../reasons.ts';
import type { ModuleFiles } from '../resources/load.ts';
import { prepareResources, withCaBundle } from '../resources/prepare.ts';
import type { Credentials } from '../resources/required-secret.ts';
import { clusterScopedKinds } from '../resources/scopes.ts';
import { prepareCertificates } from './certificates.ts';
import { areNetworkPoliciesDisabled, removeUnwantedPolicies } from './network-policies.ts';
import { withoutForeignPriorityClasses } from './priority-class.ts';
import type { BtpRun } from './run.ts';
import { orRefuse } from './status.ts';

/** The module as it belongs on the cluster now. */
export interface PreparedModule {
  readonly objects: readonly KubeObject[];
  /** When its certificates need another look, epoch milliseconds. */
  readonly lookAgainAtMs: number;
}

/** Step 8: prepares the resources, their certificates and webhook configurations. */
export async function prepareModule(
  run: BtpRun,
  files: ModuleFiles,
  credentials: Credentials,
  failure: Reason,
): Promise<PreparedModule> {
  const resources = await orRefuse(failure, () => resourcesOf(run, files, credentials));
  await orRefuse(failure, () => removeUnwantedPolicies(run), 'failed to remove network policies: ');
  const certificates = await orRefuse('PreparingInstallInfoFailed', () => prepareCertificates(run, resources));
  const objects = [...withCaBundle(resources, certificates.caBundle), ...certificates.secrets];
  return { objects, lookAgainAtMs: certificates.lookAgainAtMs };
}

async function resourcesOf(run: BtpRun, files: ModuleFiles, credentials: Credentials): Promise<KubeObject[]> {
  const prepared = prepareResources({
    files,
    credentials,
    settings: run.settings,
    images: run.workshop.images,
    clusterScoped: await clusterScopedKinds(run.context.client, [...files.apply, ...files.networkPolicies]),
    networkPolicies: !areNetworkPoliciesDisabled(run),
  });
  return await withoutForeignPriorityClasses(run, prepared);
}

/** Step 9: brings the cluster to it, wave by wave. Does not wait. */
export async function applyModule(run: BtpRun, module: PreparedModule): Promise<SetResult> {
  const { client, signal } = run.context;
  const { namespace, name } = run.btp.metadata;
  await run.workshop.members.follow({ namespace: namespace!, name: name! }, await kindsOf(run, module.objects));
  return await applySet({
    client,
    objects: module.objects,
    fieldManager: names.fieldManager,
    membership: run.workshop.membership,
    // The names are the module's own. Whatever lies under them, an installation by the original included, becomes ours.
    adoption: 'AdoptAll',
    memo: run.workshop.memo,
    signal,
  });
}

async function kindsOf(run: BtpRun, objects: readonly KubeObject[]): Promise<Kind[]> {
  const wanted = new Map(objects.map((object) => [`${object.apiVersion}/${object.kind}`, object]));
  const kinds = await Promise.all(
    [...wanted.values()].map((object) =>
      run.context.client.resolve(object.apiVersion, object.kind).catch(() => undefined),
    ),
  );
  return kinds.filter((kind) => kind !== undefined);
}

/** What stopped a pass, in the words of the original. */
export function applyFailure(run: BtpRun, result: SetResult, failure: Reason): Refusal {
  const failed = result.members.filter((member) => member.action === 'failed');
  const text = `failed to apply module resources: ${failed.map(failureText).join('; ')}`;
  const passing = failed.every((member) => member.retriable);
  return new Refusal(failure, run.redaction.apply(text), { passing });
}

/** What a pass waits for. */
export function waitText(result: SetResult): string {
  return waitingText(result) || 'the resources to be ready';
}

/** Before an update: asks the API server whether it would take the new version. Changes nothing. */
export async function checkConsistency(run: BtpRun, files: ModuleFiles, credentials: Credentials): Promise<void> {
  const planned = await orRefuse('ConsistencyCheckFailed', async () =>
    planSet({
      client: run.context.client,
      objects: (await resourcesOf(run, files, credentials)).filter((object) => object.kind !== 'Secret'),
      fieldManager: names.fieldManager,
      membership: run.workshop.membership,
      signal: run.context.signal,
    }),
  );
  const refused = planned.filter((member) => member.action === 'refused');
  if (refused.length > 0) {
    const texts = refused.map((member) => failureText({ ref: member.ref, action: 'failed', message: member.message }));
    const passing = refused.every(({ error }) => isTransient(error) || isConflict(error));
    throw new Refusal('ConsistencyCheckFailed', `the API server would refuse: ${texts.join('; ')}`, { passing });
  }
}
