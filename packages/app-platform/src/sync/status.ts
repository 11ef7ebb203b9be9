import { createMergePatch, kubeTime } from '@slipway/kube';

import { Application, type ApplicationCondition, type ApplicationStatus } from '../argo/application.ts';
import { argo } from '../argo/words.ts';
import type { SyncRun } from './run.ts';

export type ConditionTexts = Partial<Record<ApplicationCondition['type'], string>>;

/**
 * Writes fields of the status; what stays as it is costs no write. The kind has no status subresource, so the same write takes away what the
 * Application asked for once: an operation that has begun, a refresh that was done.
 */
export async function writeStatus(run: SyncRun, change: Partial<ApplicationStatus>): Promise<void> {
  const { application, client, context } = run;
  const before = application.status ?? {};
  const after: ApplicationStatus = { ...before, ...change };
  const difference = createMergePatch({ ...before }, { ...after });
  const takesOperation = change.operationState !== undefined && application.operation !== undefined;
  const takesRefresh = change.sync !== undefined && application.metadata.annotations?.[argo.refresh] !== undefined;
  if (!difference && !takesOperation && !takesRefresh) return;
  const { namespace, name, uid } = application.metadata;
  const status = difference && { ...difference, reconciledAt: kubeTime(context.clock.now()) };
  run.application = await client.patch(
    Application,
    { namespace, name: name! },
    {
      type: 'merge',
      body: {
        // Only the very object that was looked at: one that was made anew under its name has a life of its own.
        metadata: { uid, ...(takesRefresh ? { annotations: { [argo.refresh]: null } } : {}) },
        ...(takesOperation ? { operation: null } : {}),
        ...(status ? { status } : {}),
      },
    },
  );
}

/** The conditions as they are to be: those of `types` by `texts`, all others as they were. A time moves only when a condition comes or changes. */
export function withConditions(
  run: SyncRun,
  types: readonly ApplicationCondition['type'][],
  texts: ConditionTexts,
): ApplicationCondition[] {
  const present = run.application.status?.conditions ?? [];
  const now = kubeTime(run.context.clock.now());
  const said = types.flatMap((type): ApplicationCondition[] => {
    const message = texts[type];
    if (message === undefined) return [];
    const known = present.find((condition) => condition.type === type && condition.message === message);
    return [known ?? { type, message, lastTransitionTime: now }];
  });
  return [...present.filter(({ type }) => !types.includes(type)), ...said];
}
