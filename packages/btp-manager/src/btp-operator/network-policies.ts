import { NetworkPolicy } from '@slipway/kube';

import { names, ownSelector } from '../names.ts';
import { isAskedFor } from './annotations.ts';
import type { BtpRun } from './run.ts';

/** Whether the user wants no network policies. */
export function areNetworkPoliciesDisabled(run: BtpRun): boolean {
  return isAskedFor(run, names.disableNetworkPoliciesAnnotation);
}

/** Takes away policies that are not wanted: all of ours when the user says so, and one that old versions brought. */
export async function removeUnwantedPolicies(run: BtpRun): Promise<void> {
  const { client } = run.context;
  const namespace = run.settings.chartNamespace;
  if (areNetworkPoliciesDisabled(run)) await removePolicies(run);
  const legacy = { namespace, name: names.legacyNetworkPolicy };
  if (await client.get(NetworkPolicy, legacy)) await client.delete(NetworkPolicy, legacy);
}

/** Takes away the policies of ours. */
export async function removePolicies(run: BtpRun): Promise<void> {
  const scope = { namespace: run.settings.chartNamespace, labelSelector: ownSelector };
  const { items } = await run.context.client.listPage(NetworkPolicy, { ...scope, limit: 1 });
  if (items.length > 0) await run.context.client.deleteCollection(NetworkPolicy, scope);
}
