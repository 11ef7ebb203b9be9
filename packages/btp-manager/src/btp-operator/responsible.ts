import { hasFinalizer, keyOf, keyText, type DeepReadonly } from '@slipway/kube';

import { BtpOperator } from '../api.ts';
import { names } from '../names.ts';
import type { BtpRun } from './run.ts';
import { setReason } from './status.ts';

/** Steps 2 and 3: whether this object represents the module. One that does not is told so and otherwise left alone. */
export async function isResponsible(run: BtpRun): Promise<boolean> {
  const { namespace, name } = names.primary;
  if (run.workshop.singleton === 'fixed') {
    if (run.btp.metadata.namespace === namespace && run.btp.metadata.name === name) return true;
    const text = `Your resource must be in the ${namespace} namespace. The resource's name must be ${name}.`;
    await stepAside(run, 'WrongNamespaceOrName', text);
    return false;
  }
  const oldest = await oldestOf(run);
  if (!oldest || oldest.metadata.uid === run.btp.metadata.uid) return true;
  await stepAside(run, 'OlderCRExists', `${keyText(keyOf(oldest))} is older and represents the module`);
  return false;
}

async function stepAside(run: BtpRun, reason: 'WrongNamespaceOrName' | 'OlderCRExists', text: string): Promise<void> {
  // A finalizer from a time when this object was the responsible one protects nothing any more.
  if (run.btp.metadata.deletionTimestamp !== undefined && hasFinalizer(run.btp, names.finalizer)) {
    await run.context.client.removeFinalizer(run.btp, names.finalizer);
    return;
  }
  await setReason(run, reason, text);
}

async function oldestOf(run: BtpRun): Promise<DeepReadonly<BtpOperator> | undefined> {
  let oldest: BtpOperator | undefined;
  for await (const candidate of run.context.client.list(BtpOperator))
    if (!oldest || ageKey(candidate) < ageKey(oldest)) oldest = candidate;
  return oldest;
}

/** Creation times have whole seconds only; the name decides between two of the same second. */
function ageKey({ metadata }: BtpOperator): string {
  return `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
}
