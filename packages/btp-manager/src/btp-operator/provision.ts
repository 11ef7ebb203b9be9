import { Deployment } from '@slipway/kube';
import type { SetResult } from '@slipway/manifests';
import { requeueAfter, type Requeue } from '@slipway/runtime';

import { names } from '../names.ts';
import { Refusal, type Reason } from '../reasons.ts';
import type { ModuleFiles } from '../resources/load.ts';
import { readCredentials } from './credentials.ts';
import { findDrift, noteDrift, removeStaleClusterId, removeSuperseded } from './drift.ts';
import { applyFailure, applyModule, checkConsistency, prepareModule, waitText } from './install.ts';
import { deleteOutdated } from './outdated.ts';
import type { BtpRun } from './run.ts';
import { orRefuse, reasonOf, setProgress, setReason, stateOf, timeText } from './status.ts';

/**
 * Steps 5 to 11 of provisioning, which are also those of an update and of a look at a ready module. A refusal ends it; the
 * caller turns it into the status.
 */
export async function provision(run: BtpRun): Promise<Requeue> {
  // 5. The required Secret has to be there.
  // 6. It has to be complete.
  const { secret, credentials } = await readCredentials(run);
  await leaveError(run);
  const files = await run.workshop.loader.load(run.settings);

  // What is different from the last time, and what that makes of the state.
  const drift = await findDrift(run, secret, credentials);
  if (stateOf(run.btp) === 'Ready') {
    if (drift.actualNamespace !== credentials.namespace) {
      const text = `credentials namespace changed from ${drift.actualNamespace} to ${credentials.namespace}`;
      await setReason(run, 'CredentialsNamespaceChanged', text);
    } else if (drift.recordedClusterId !== undefined && drift.recordedClusterId !== credentials.clusterId) {
      const text = `cluster ID changed from ${drift.recordedClusterId} to ${credentials.clusterId}`;
      await setReason(run, 'ClusterIdChanged', text);
    }
  }
  await checkForUpdate(run, files);
  if (reasonOf(run.btp) === 'UpdateCheck') {
    await checkConsistency(run, files, credentials);
    await setReason(run, 'Updated', `updating from ${run.btp.status?.chartVersion} to ${files.chartVersion}`);
  }
  const failure = stateOf(run.btp) === 'Ready' ? 'ReconcileFailed' : 'ProvisioningFailed';
  await noteDrift(run, secret, credentials, drift);
  await removeStaleClusterId(run, secret, credentials, drift);

  // 7. Outdated resources go first.
  await orRefuse(failure, () => deleteOutdated(run, files));

  // 8. The current ones are prepared: certificates, webhook configurations, labels, namespace, credentials, images.
  const module = await prepareModule(run, files, credentials, failure);

  // 9. They are applied.
  const result = await orRefuse(failure, () => applyModule(run, module));
  if (result.state === 'failed') throw applyFailure(run, result, failure);

  // 10. They have some time to become ready; a change of one of them brings us back here at once.
  if (result.state === 'waiting') return await waitForReadiness(run, result, failure);
  await removeSuperseded(run, drift);

  // 11. The module is ready.
  await becomeReady(run, files);
  const untilCertificates = module.lookAgainAtMs - run.context.clock.now();
  return requeueAfter(Math.max(1000, Math.min(run.settings.readyStateRequeueIntervalMs, untilCertificates)));
}

/** Another try after a failure shows as processing. */
async function leaveError(run: BtpRun): Promise<void> {
  const state = stateOf(run.btp);
  if (state === 'Error' || state === 'Warning') await setReason(run, 'Updated', 'CR has been updated');
}

/** A ready module of another chart version is updated; one that turns out to be of this version (the manager went back) is not. */
async function checkForUpdate(run: BtpRun, files: ModuleFiles): Promise<void> {
  if (stateOf(run.btp) === 'Ready') {
    const installed = run.btp.status?.chartVersion ?? (await versionOnDeployment(run));
    if (installed === undefined || installed === files.chartVersion) return;
    const text = `checking whether ${installed} can be updated to ${files.chartVersion}`;
    await setReason(run, 'UpdateCheck', text, { chartVersion: installed });
  } else if (reasonOf(run.btp) === 'UpdateCheck' && run.btp.status?.chartVersion === files.chartVersion) {
    await setReason(run, 'UpdateCheckSucceeded', `${files.chartVersion} is installed; no update is required`);
  }
}

/** Installations by the original have no version in their status, but on their objects. */
async function versionOnDeployment(run: BtpRun): Promise<string | undefined> {
  const { chartNamespace, deploymentName } = run.settings;
  const deployment = await run.context.client.get(Deployment, { namespace: chartNamespace, name: deploymentName });
  return deployment?.metadata.labels?.[names.chartVersionLabel];
}

async function waitForReadiness(run: BtpRun, result: SetResult, failure: Reason): Promise<Requeue> {
  const { clock } = run.context;
  const { readyTimeoutMs, readyCheckIntervalMs } = run.settings;
  const since = run.btp.status?.waitingSince;
  if (since === undefined) await setProgress(run, { waitingSince: timeText(clock.now()) });
  const leftMs = Date.parse(run.btp.status?.waitingSince ?? timeText(clock.now())) + readyTimeoutMs - clock.now();
  if (leftMs <= 0) {
    throw new Refusal(failure, `timed out while waiting for resources readiness: ${waitText(result)}`);
  }
  const reason = reasonOf(run.btp);
  if (reason && stateOf(run.btp) === 'Processing') await setReason(run, reason, `waiting for ${waitText(result)}`);
  return requeueAfter(Math.min(leftMs, readyCheckIntervalMs));
}

async function becomeReady(run: BtpRun, files: ModuleFiles): Promise<void> {
  const before = run.btp.status?.chartVersion;
  const done = { chartVersion: files.chartVersion, waitingSince: undefined };
  if (stateOf(run.btp) === 'Ready') return await setProgress(run, done);
  if (before !== undefined && before !== files.chartVersion)
    return await setReason(run, 'UpdateDone', `updated from ${before} to ${files.chartVersion}`, done);
  await setReason(run, 'ReconcileSucceeded', 'Module provisioning succeeded', done);
}

/** Keeps the service operator alive and current while its deletion is blocked. Says nothing in the status; failures are logged. */
export async function keepAlive(run: BtpRun): Promise<void> {
  try {
    const { credentials } = await readCredentials(run);
    const files = await run.workshop.loader.load(run.settings);
    await deleteOutdated(run, files);
    const result = await applyModule(run, await prepareModule(run, files, credentials, 'ReconcileFailed'));
    if (result.state === 'failed') throw applyFailure(run, result, 'ReconcileFailed');
  } catch (error) {
    run.context.signal.throwIfAborted();
    const message = run.redaction.apply(error instanceof Error ? error.message : String(error));
    run.context.log.warn('the service operator could not be kept current while its deletion is blocked', { message });
  }
}
