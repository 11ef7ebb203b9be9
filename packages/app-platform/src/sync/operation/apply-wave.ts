import { applySet, refKey, refText, waitingText, type MemberResult } from '@slipway/manifests';

import { fieldManager, type SyncRun } from '../run.ts';
import type { Target } from '../target.ts';
import { done, type Results, type StepOutcome } from './outcome.ts';

/**
 * Applies the objects of one wave. Where something comes after it, the wave is through when all of it is healthy; the last one is through when it
 * is there, as for `kubectl apply`.
 */
export async function applyWave(
  run: SyncRun,
  targets: readonly Target[],
  isLast: boolean,
  results: Results,
): Promise<StepOutcome> {
  if (targets.length === 0) return done;
  const { client, context, membership, memory } = run;
  const result = await applySet({
    client,
    objects: targets.map(({ object }) => object),
    fieldManager,
    membership,
    // As Argo CD: what is there already is taken over, from Helm too. Another Application's is refused before.
    adoption: 'AdoptAll',
    memo: memory.memo,
    preflight: true,
    signal: context.signal,
    ...(isLast ? { gate: () => false } : {}),
  });
  const versions = new Map(targets.map(({ key, object }) => [key, object.apiVersion]));
  for (const member of result.members) noteMember(member, versions, results);
  const refused = result.members.filter(({ action }) => action === 'failed');
  const failed = refused.find(({ retriable }) => !retriable);
  if (failed) return { state: 'failed', message: `${refText(failed.ref)}: ${failed.message ?? 'was refused'}` };
  // The server was busy, or somebody else wrote at the same moment: the next pass finds out.
  if (refused[0]) return { state: 'waiting', message: `${refText(refused[0].ref)}: ${refused[0].message ?? ''}` };
  const broken = isLast ? undefined : result.members.find(({ health }) => health?.status === 'Failed');
  if (broken) return { state: 'failed', message: `${refText(broken.ref)} ${broken.health!.message}` };
  return result.state === 'applied' ? done : { state: 'waiting', message: `waiting for ${waitingText(result)}` };
}

const actionTexts: Partial<Record<MemberResult['action'], string>> = {
  created: 'created',
  configured: 'configured',
  recreated: 'replaced',
  unchanged: 'unchanged',
};

function noteMember(member: MemberResult, versions: ReadonlyMap<string, string>, results: Results): void {
  const { ref, action, message } = member;
  const key = refKey(ref);
  if (action === 'failed')
    results.note(ref, versions.get(key), 'Sync', { status: 'SyncFailed', message: message ?? 'was refused' });
  else if (action !== 'pending' && action !== 'waiting')
    results.note(ref, versions.get(key), 'Sync', { status: 'Synced', message: actionTexts[action] ?? action });
}
