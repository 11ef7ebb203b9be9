import { createHash } from 'node:crypto';
import { jsonEqual } from '@slipway/kube';

import type { OperationState, Source, SyncResult, SyncStatus } from '../argo/application.ts';
import type { Aim } from './run.ts';

/** A source as it may stand in a status: inline values hold passwords, so they are told apart by their fingerprint only. */
export function shownSource(source: Source): Source {
  const { values, valuesObject, parameters, ...rest } = source.helm ?? {};
  const secret = [values, valuesObject, parameters];
  if (secret.every((value) => value === undefined || value === '')) return source;
  const print = createHash('sha256').update(JSON.stringify(secret)).digest('hex').slice(0, 16);
  return { ...source, helm: { ...rest, values: `# sha256:${print}` } };
}

/** The fields that say what was aimed at, for one source as for several. */
export function aimFields({
  spec,
  sources,
  commits,
}: Aim): Pick<SyncResult, 'revision' | 'revisions' | 'source' | 'sources'> {
  const isOne = spec.sources === undefined || spec.sources.length === 0;
  return isOne ? { revision: commits[0]!, source: sources[0]! } : { revisions: [...commits], sources: [...sources] };
}

export function comparedTo(aim: Aim): NonNullable<SyncStatus['comparedTo']> {
  const { source, sources } = aimFields(aim);
  return { ...(source ? { source } : { sources: sources! }), destination: aim.spec.destination };
}

/** Whether an operation was about the very same sources and commits. */
export function hasSameAim(state: OperationState | undefined, aim: Aim): boolean {
  if (!state) return false;
  const { revision, revisions, source, sources } = state.syncResult ?? {};
  return jsonEqual(revision === undefined ? { revisions, sources } : { revision, source }, aimFields(aim));
}
