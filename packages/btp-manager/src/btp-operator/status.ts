import { findCondition, isConflict, isNotFound, isTransient, sleep } from '@slipway/kube';

import { BtpOperator } from '../api.ts';
import { btpCondition, isReason, reasons, Refusal, type Reason } from '../reasons.ts';
import type { BtpRun } from './run.ts';

/** Status fields besides state and condition; `undefined` takes a field away. */
export type Progress = {
  [K in 'chartVersion' | 'waitingSince' | 'hardDeleteStartedAt' | 'hardDeleteSeenAt' | 'removalStartedAt']?:
    | string
    | undefined;
};

/** How moments stand in the status: to the millisecond, so that a limit counts from when it really began. */
export function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function reasonOf(btp: BtpOperator): Reason | undefined {
  const reason = findCondition(btp, 'Ready')?.reason;
  return isReason(reason) ? reason : undefined;
}

export function stateOf(btp: BtpOperator): NonNullable<BtpOperator['status']>['state'] | undefined {
  return btp.status?.state || undefined;
}

/** Says where the module stands. Writes nothing when it has been said already; tells people when the reason is a new one. */
export async function setReason(run: BtpRun, reason: Reason, message: string, progress: Progress = {}): Promise<void> {
  const { state, ready } = reasons[reason];
  const before = reasonOf(run.btp);
  const text = run.redaction.apply(message).slice(0, 32_000);
  await write(run, {
    state,
    conditions: [btpCondition('Ready', ready, reason, text)],
    ...progress,
  });
  if (before === reason) return;
  const { events } = run.context;
  if (state === 'Error' || state === 'Warning') events.warning(run.btp, reason, text);
  else events.normal(run.btp, reason, text);
}

/** Notes progress without a change of state. */
export async function setProgress(run: BtpRun, progress: Progress): Promise<void> {
  if (run.btp.status) await write(run, progress);
}

/** The status belongs to the manager alone, so only a replaced object is a reason not to write it. */
async function write(run: BtpRun, fields: object): Promise<void> {
  const { context, settings } = run;
  const end = context.clock.now() + settings.statusUpdateTimeoutMs;
  for (;;) {
    try {
      const written = await context.client.setStatus(run.btp, fields as never, { precondition: 'uid' });
      run.btp = written as BtpOperator;
      return;
    } catch (error) {
      if (isNotFound(error)) throw new ObjectGone();
      if (!(isTransient(error) || isConflict(error)) || context.clock.now() >= end) throw error;
      if (isConflict(error)) run.btp = await readAgain(run);
      await sleep(context.clock, settings.statusUpdateCheckIntervalMs, context.signal);
    }
  }
}

/** A conflict without a change of ours: somebody replaced the object, or the server just says so. */
async function readAgain(run: BtpRun): Promise<BtpOperator> {
  const { namespace, name, uid } = run.btp.metadata;
  const found = await run.context.client.get(BtpOperator, { namespace, name: name! });
  if (found?.metadata.uid !== uid) throw new ObjectGone();
  return found!;
}

/** The BtpOperator went away, or was replaced, while it was being worked on. */
export class ObjectGone extends Error {
  constructor() {
    super('the BtpOperator is gone');
    this.name = 'ObjectGone';
  }
}

/** Runs `work`; what goes wrong in it becomes a refusal with `reason`. */
export async function orRefuse<T>(reason: Reason, work: () => Promise<T>, prefix = ''): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal || error instanceof ObjectGone || isAbort(error)) throw error;
    throw new Refusal(reason, `${prefix}${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
