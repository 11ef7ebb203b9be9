import type { Client, DeepReadonly } from '@slipway/kube';
import type { ReconcileContext } from '@slipway/runtime';

import { accountOf, clientFor, type AccountSettings } from '../account.ts';
import { ClusterActiveOperand, Operand, type ActiveOperand } from '../api.ts';
import { names } from '../names.ts';
import { operandOf } from '../set-references.ts';
import type { OwnedMembers } from './owned-members.ts';

/** How the members of a set are seen. */
export interface MemberView {
  readonly known: OwnedMembers;
  /** As whom they are read and written; `undefined` when the set has no account and the operator uses no rights of its own. */
  readonly client: Client | undefined;
  /** No watch tells of some of them: they have to be asked for. */
  readonly isBlind: boolean;
}

/** Says of a set that nobody's rights can be used for it. */
export const noAccount =
  'has no ServiceAccount, and this operator does nothing with rights of its own (--require-service-account)';

/**
 * The client for the members of a set: acts as the account of the Operand the set belongs to, if it has one. `undefined` when it
 * has none and one is required.
 */
export async function memberClient(
  { cache, client }: Pick<ReconcileContext, 'cache' | 'client'>,
  set: DeepReadonly<ClusterActiveOperand> | undefined,
  settings: AccountSettings,
): Promise<Client | undefined> {
  const owner =
    set && operandOf({ ...set, apiVersion: ClusterActiveOperand.apiVersion, kind: ClusterActiveOperand.kind });
  const operand = owner ? await cache.get(Operand, { name: owner.name }) : undefined;
  const account = operand && operand.metadata.uid === owner?.uid ? accountOf(operand, settings) : undefined;
  return account || !settings.requireAccount ? clientFor(client, account) : undefined;
}

/** The set an ActiveOperand mirrors, if it is this one. */
export function mirrored(
  mirror: DeepReadonly<ActiveOperand>,
  set: DeepReadonly<ClusterActiveOperand> | undefined,
): DeepReadonly<ClusterActiveOperand> | undefined {
  return set && mirror.metadata.labels?.[names.mirrorOfLabel] === set.metadata.uid ? set : undefined;
}
