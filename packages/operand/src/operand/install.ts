import { firstOfMany, findCondition, isConditionTrue, type DeepReadonly, type KubeObject } from '@slipway/kube';
import { applySet, failureText, refKey, refOf, refText, waitingText, type SetResult } from '@slipway/manifests';

import { obstacleIn } from './obstacles.ts';
import { withOwners, type Revision, type Revisions } from './revisions.ts';
import type { Manifest, OperandRun, StatusWrite } from './run.ts';
import {
  freshInstall,
  installed,
  installFailed,
  installUnready,
  installWaiting,
  memberStatus,
  writeStatus,
} from './status.ts';

/**
 * Puts the manifest on the cluster. The steady state is applied first for every new generation, and the whole manifest (with
 * the post-install part) only after the steady state has been ready once in this generation. `pending` means: on its way;
 * `disturbed`: worth another try at once.
 */
export async function installSet(
  run: OperandRun,
  manifest: Manifest,
  revisions: Revisions,
  current: Revision,
): Promise<'installed' | 'pending' | 'failed' | 'disturbed'> {
  const generation = run.operand.metadata.generation ?? 0;
  const owners = [current, revisions.byName.get(revisions.ready)];
  const again = () => installSet(run, manifest, revisions, current);
  let steady: Pass | undefined;
  if (needsSteadyState(run, manifest)) {
    await markStarted(run, manifest);
    const objects = manifest.steadyState.filter((object) => !stayOverridden(object, manifest, revisions));
    steady = await apply(run, objects, owners, true);
    if (steady.state !== 'applied') return steady.full ? await report(run, steady, revisions, false) : await again();
    await writeStatus(run, { latestInstalledSteadyStateGeneration: generation, sourcesHash: manifest.sourcesHash });
  }
  // Without a post-install part the steady state is the whole manifest and has just been applied.
  const whole = steady && manifest.postInstall.length === 0 ? steady : await apply(run, manifest.merged, owners, false);
  if (whole.state !== 'applied')
    return whole.full ? await report(run, whole, revisions, manifest.postInstall.length > 0) : await again();
  const was = findCondition(run.operand, 'OperandInstalled')?.status;
  // A pass over a few members of what is in force changes nothing worth a write, but for drift that is left.
  const drifts = whole.members.some((member) => member.action === 'drifted');
  const drifted = (run.operand.status?.counts?.['drifted'] ?? 0) > 0;
  const worthTelling = whole.full || !run.steady || drifts || drifted;
  const results = worthTelling ? run.members.resultsOf(manifest.merged) : undefined;
  await writeStatus(run, {
    ...(results ? memberStatus(results) : {}),
    conditions: [manifest.rolledBack ? rolledBack(run) : installed()],
  });
  reportDrift(run, whole, was === 'True');
  if (was !== 'True' && !manifest.rolledBack)
    run.context.events.normal(run.operand, 'Installed', `generation ${generation} is on the cluster`);
  return 'installed';
}

function rolledBack(run: OperandRun): ReturnType<typeof installFailed> {
  return installFailed(
    `generation ${run.operand.status?.rolledBackGeneration} failed, the last ready manifest is in force; change the spec to try again. It failed with: ${run.operand.status?.rolledBackReason ?? 'unknown'}`,
    false,
    'RolledBack',
  );
}

function needsSteadyState(run: OperandRun, manifest: Manifest): boolean {
  if (manifest.rolledBack) return false;
  const { status, metadata } = run.operand;
  return (
    status?.latestInstalledSteadyStateGeneration !== metadata.generation ||
    (status?.sourcesHash ?? '') !== manifest.sourcesHash
  );
}

/** Recorded before the cluster is touched: the stored generation never claims more than is installed. */
async function markStarted(run: OperandRun, manifest: Manifest): Promise<void> {
  const { status, metadata } = run.operand;
  const observed = status?.observedGeneration === metadata.generation;
  const sourcesChanged = observed && (status?.sourcesHash ?? '') !== manifest.sourcesHash;
  if (observed && !sourcesChanged && !isConditionTrue(run.operand, 'OperandInstalled')) return;
  await writeStatus(run, {
    ...(sourcesChanged ? freshInstall(run) : {}),
    sourcesHash: manifest.sourcesHash,
    conditions: [installWaiting('New operand created. Re-checking health')],
  });
}

/** An object that post-install replaces would flip back for a moment on every new generation; while the same set is active it stays as it is. */
function stayOverridden(object: DeepReadonly<KubeObject>, manifest: Manifest, revisions: Revisions): boolean {
  return (
    revisions.ready === revisions.desired &&
    manifest.postInstall.some((item) => refKey(refOf(item)) === refKey(refOf(object)))
  );
}

interface Pass extends SetResult {
  /** All members were looked at. What is wrong with a few is judged, and reported, with all of them in view. */
  readonly full: boolean;
}

async function apply(
  run: OperandRun,
  objects: readonly DeepReadonly<KubeObject>[],
  owners: readonly (Revision | undefined)[],
  preflight: boolean,
): Promise<Pass> {
  const { clock, signal } = run.context;
  const { metadata, spec } = run.operand;
  const configs = withOwners(objects, owners);
  const terms = JSON.stringify([spec.checkDeploymentHealth, spec.healthRules, spec.adoptionPolicy]);
  const only = run.members.toLookAt(configs, terms, run.steady);
  if (only?.size === 0) return { state: 'applied', members: [], full: false };
  const started = clock.now();
  let waveStarted = started;
  const result = await applySet({
    client: run.client,
    objects: configs,
    fieldManager: run.fieldManager,
    membership: run.membership,
    adoption: spec.adoptionPolicy ?? 'AdoptIfUnowned',
    gate: () => spec.checkDeploymentHealth === true,
    ...(run.health ? { health: run.health } : {}),
    preflight,
    ...(only ? { only } : {}),
    onWave(wave) {
      run.metrics?.wave(metadata.name!, wave, (clock.now() - waveStarted) / 1000);
      waveStarted = clock.now();
    },
    memo: run.memo,
    signal,
  });
  const full = only === undefined;
  run.metrics?.pass(metadata.name!, full ? 'full' : 'partial', (clock.now() - started) / 1000);
  if (result.state === 'applied') run.members.settle(configs, terms, result.members, full);
  else run.members.distrust();
  if (full) run.sawAll = true;
  return { ...result, full };
}

async function report(
  run: OperandRun,
  result: SetResult,
  revisions: Revisions,
  postInstall: boolean,
): Promise<'pending' | 'failed' | 'disturbed'> {
  run.obstacle = obstacleIn(result.members);
  const fields: StatusWrite = memberStatus(result.members);
  const overdue = deadlinePassed(run);
  const broken = result.members.some((member) => member.health?.status === 'Failed');
  if (result.state === 'failed' || overdue || broken) {
    const text = failureReason(result);
    const rollback = (overdue || broken) && mayRollBack(run, revisions);
    await writeStatus(run, {
      ...fields,
      ...(rollback ? { rolledBackGeneration: run.operand.metadata.generation ?? 0, rolledBackReason: text } : {}),
      conditions: [
        installFailed(
          `${overdue ? 'not ready within progressDeadlineSeconds: ' : ''}${text}`,
          postInstall,
          overdue ? 'ProgressDeadlineExceeded' : 'Failed',
        ),
      ],
    });
    run.context.events.warning(run.operand, rollback ? 'RollingBack' : 'InstallFailed', text);
    const refused = result.members.filter((member) => member.action === 'failed');
    const passing = refused.length > 0 && refused.every((member) => member.retriable === true);
    return passing || rollback ? 'disturbed' : 'failed';
  }
  await writeStatus(run, { ...fields, conditions: [installUnready(waitingText(result), postInstall)] });
  // A definition that is not served yet, an object on its way out: short matters, and not all of them end with an event.
  return result.members.some((member) => member.action === 'waiting') ? 'disturbed' : 'pending';
}

/** What went wrong, the lasting before the passing: refusals, members that have failed, refusals worth another try. */
function failureReason(result: SetResult): string {
  const refused = result.members.filter((member) => member.action === 'failed');
  const lasting = refused.filter((member) => member.retriable !== true);
  const broken = result.members.filter((member) => member.health?.status === 'Failed');
  if (lasting.length === 0 && broken.length > 0) return waitingText({ ...result, members: broken });
  const shown = lasting.length > 0 ? lasting : refused;
  if (shown.length === 0) return waitingText(result);
  return firstOfMany(shown.map(failureText));
}

function deadlinePassed(run: OperandRun): boolean {
  const left = timeLeft(run);
  return left !== undefined && left < 0;
}

/** Milliseconds until a pending install has to be called failed; `Infinity` when it has no deadline or is past it. */
export function untilDeadline(run: OperandRun): number {
  const left = timeLeft(run);
  return left === undefined || left < 0 ? Infinity : left + 1;
}

function timeLeft(run: OperandRun): number | undefined {
  const limit = run.operand.spec.progressDeadlineSeconds;
  const since = run.operand.status?.installStartedAt;
  if (limit === undefined || since === undefined) return undefined;
  return Date.parse(since) + limit * 1000 - run.context.clock.now();
}

/** There is a manifest to go back to, and it is not the one that fails. */
function mayRollBack({ operand }: OperandRun, { ready, byName }: Revisions): boolean {
  return (
    operand.spec.onFailure === 'Rollback' &&
    operand.status?.rolledBackGeneration !== operand.metadata.generation &&
    byName.get(ready)?.object.status?.lastReadyManifest !== undefined
  );
}

function reportDrift(run: OperandRun, result: SetResult, wasInstalled: boolean): void {
  const name = run.operand.metadata.name!;
  if (wasInstalled) {
    const corrected = result.members.filter(
      ({ action }) => action === 'created' || action === 'configured' || action === 'recreated',
    );
    for (const _member of corrected) run.metrics?.drift(name, 'corrected');
    if (corrected.length > 0)
      run.context.events.normal(
        run.operand,
        'DriftCorrected',
        firstOfMany(
          corrected.map(({ ref }) => refText(ref)),
          { separator: ', ' },
        ),
      );
  }
  const drifted = result.members.filter((member) => member.action === 'drifted');
  for (const _member of drifted) run.metrics?.drift(name, 'left');
  if (drifted.length > 0) run.context.events.warning(run.operand, 'Drifted', firstOfMany(drifted.map(failureText)));
}
