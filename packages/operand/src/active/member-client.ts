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
  /** As whom they are read and written. */
  readonly client: Client;
  /** No watch tells of some of them: they have to be asked for. */
  readonly isBlind: boolean;
}

/** The client for the members of a set: acts as the account of the Operand the set belongs to, if it has one. */
export async function memberClient(
  { cache, client }: Pick<ReconcileContext, 'cache' | 'client'>,
  set: DeepReadonly<ClusterActiveOperand> | undefined,
  settings: AccountSettings,
): Promise<Client> {
  const owner =
    set && operandOf({ ...set, apiVersion: ClusterActiveOperand.apiVersion, kind: ClusterActiveOperand.kind });
  const operand = owner ? await cache.get(Operand, { name: owner.name }) : undefined;
  return operand && operand.metadata.uid === owner?.uid ? clientFor(client, accountOf(operand, settings)) : client;
}

/** The set an ActiveOperand mirrors, if it is this one. */
export function mirrored(
  mirror: DeepReadonly<ActiveOperand>,
  set: DeepReadonly<ClusterActiveOperand> | undefined,
): DeepReadonly<ClusterActiveOperand> | undefined {
  return set && mirror.metadata.labels?.[names.mirrorOfLabel] === set.metadata.uid ? set : undefined;
}
