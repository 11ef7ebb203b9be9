import { findCondition, kubeTime } from '@slipway/kube';
import { countActions, refText, type MemberResult } from '@slipway/manifests';

import { operandCondition, reasons, type OperandCondition, type OperandReason } from '../reasons.ts';
import { carryOverIn } from './carry-over.ts';
import type { OperandRun, StatusWrite } from './run.ts';

/** Per-object results kept in status; a set may have thousands. */
const shownMembers = 50;

/** What the server takes as the message of a condition, in characters. */
const longestMessage = 32_768;

/** A message that fits into a condition: its beginning, and how much more there is. */
export function fittedMessage(message: string): string {
  if (message.length <= longestMessage) return message;
  const room = longestMessage - 50;
  return `${message.slice(0, room)}… and ${message.length - room} characters more`;
}

/**
 * Writes status fields, refused when the Operand has changed since it was read: the run must not go on then. `Ready` follows
 * from the other two conditions and from what is left to prune. A plan is worth nothing once something was done. The first write about a new generation also says that nothing of it is installed yet.
 */
export async function writeStatus(run: OperandRun, fields: StatusWrite): Promise<void> {
  const generation = run.operand.metadata.generation ?? 0;
  const outdated = fields.plan === undefined && (run.operand.status?.plan ?? []).length > 0;
  const conditions = withReady(
    run,
    [
      ...(fields.conditions ?? []),
      ...(outdated ? [operandCondition('Planned', false, 'Applied', 'spec.mode is Apply')] : []),
    ],
    fields,
  ).map((given) => ({ ...given, message: fittedMessage(given.message ?? '') }));
  const fresh = run.operand.status?.observedGeneration === generation ? {} : freshInstall(run);
  run.operand = await run.context.client.setStatus(run.operand, {
    ...fresh,
    ...(outdated ? { plan: undefined } : {}),
    ...fields,
    observedGeneration: generation,
    ...(conditions.length > 0 ? { conditions } : {}),
  } as Parameters<typeof run.context.client.setStatus<typeof run.operand>>[1]);
}

/** Nothing of the present generation is installed, and its time runs from now. A roll-back was about what came before. */
export function freshInstall(run: OperandRun): StatusWrite {
  return {
    latestInstalledSteadyStateGeneration: 0,
    installStartedAt: kubeTime(run.context.clock.now()),
    rolledBackGeneration: undefined,
    rolledBackReason: undefined,
  };
}

function withReady(run: OperandRun, given: readonly OperandCondition[], fields: StatusWrite): OperandCondition[] {
  if (given.length === 0 && !('carryOver' in fields)) return [];
  const find = (type: string) => given.find((item) => item.type === type) ?? findCondition(run.operand, type);
  const parts = [find('OperandInstalled'), find('LatestActiveOperandReady'), pruned(run, fields)];
  const decisive = parts.find((part) => part?.status === 'False') ?? parts.find((part) => part?.status !== 'True');
  const ready =
    decisive === undefined && parts.every((part) => part !== undefined)
      ? operandCondition('Ready', true, 'Installed', 'the manifest is on the cluster')
      : operandCondition(
          'Ready',
          decisive?.status === 'False' ? false : 'Unknown',
          reasons.isReason('Operand', decisive?.reason) ? decisive.reason : 'Progressing',
          decisive?.message ?? '',
        );
  return [...given, ready];
}

/** The part of `Ready` that no condition of its own shows: nothing of a superseded set is left to prune. */
function pruned(run: OperandRun, fields: StatusWrite): OperandCondition {
  const left = carryOverIn({ ...run.operand.status, ...fields }).length;
  return left === 0
    ? operandCondition('Pruned', true, 'Active')
    : operandCondition(
        'Pruned',
        'Unknown',
        'Pruning',
        `${left} objects of superseded sets are looked at once this set is active`,
      );
}

export function installed(): OperandCondition {
  return operandCondition('OperandInstalled', true, 'Installed', 'the manifest is on the cluster');
}

/** Still on its way: stampers do not take this for a failure. */
export function installWaiting(state: string, postInstall = false): OperandCondition {
  return operandCondition(
    'OperandInstalled',
    false,
    'Waiting',
    `Waiting on Operand${postInstall ? ' post-install' : ''}. Current state is ${state}`,
  );
}

/** Applied, or to be taken away, and not there yet: `what` says for what. */
export function installUnready(what: string, postInstall = false): OperandCondition {
  const phase = postInstall ? 'post-install is ' : '';
  return operandCondition('OperandInstalled', false, 'Waiting', `${phase}waiting for ${what}`);
}

export function installFailed(error: string, postInstall = false, reason: OperandReason = 'Failed'): OperandCondition {
  return operandCondition(
    'OperandInstalled',
    false,
    reason,
    `Failure during operand ${postInstall ? 'post-install' : 'install'}: ${error}`,
  );
}

/** The manifest is on the cluster, but what left it, or the set before, could not be taken off. */
export function pruneFailed(error: string): OperandCondition {
  return operandCondition('LatestActiveOperandReady', false, 'PruneFailed', error);
}

/** The Operand is being deleted, and something refuses to let it. */
export function deleteFailed(error: string): OperandCondition {
  return operandCondition('OperandInstalled', false, 'DeleteFailed', `Failure during operand deletion: ${error}`);
}

/** True exactly when created, ready and desired set are one. */
export function activeReady(
  run: OperandRun,
  desired: string,
  latest: { created?: string; ready?: string },
): OperandCondition {
  return latest.created === desired && latest.ready === desired
    ? operandCondition('LatestActiveOperandReady', true, 'Active', `${desired} is the active set`)
    : operandCondition('LatestActiveOperandReady', 'Unknown', 'Creating', `New operand ${desired} being created`);
}

/** What happened to each object, the interesting ones first, and how many of each. */
export function memberStatus(members: readonly MemberResult[]): Pick<StatusWrite, 'counts' | 'members'> {
  const interesting = (member: MemberResult) =>
    member.action === 'failed' ||
    member.action === 'waiting' ||
    member.action === 'drifted' ||
    (member.health !== undefined && member.health.status !== 'Current');
  const shown = [...members].sort((a, b) => Number(interesting(b)) - Number(interesting(a))).slice(0, shownMembers);
  const counts = settledCounts(members);
  return {
    counts: { total: members.length, ...counts },
    members: shown.map((member) => ({
      object: refText(member.ref),
      result: settledResult(member),
      ...(member.health ? { health: member.health.status } : {}),
      ...((member.message ?? member.health?.message) ? { message: member.message ?? member.health?.message } : {}),
    })),
  };
}

/** `created`, `configured` and `unchanged` differ from pass to pass; status must not, or every pass would write it. */
function settledResult(member: MemberResult): string {
  return member.action === 'created' ||
    member.action === 'configured' ||
    member.action === 'recreated' ||
    member.action === 'unchanged'
    ? 'applied'
    : member.action;
}

function settledCounts(members: readonly MemberResult[]): Record<string, number> {
  const { created = 0, configured = 0, recreated = 0, unchanged = 0, ...rest } = countActions(members);
  const applied = created + configured + recreated + unchanged;
  return { ...(applied > 0 ? { applied } : {}), ...rest };
}
