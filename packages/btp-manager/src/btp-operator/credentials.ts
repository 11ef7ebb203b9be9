import { Secret, type DeepReadonly } from '@slipway/kube';

import { requireCredentials, requireSecret, type Credentials } from '../resources/required-secret.ts';
import type { BtpRun } from './run.ts';
import { orRefuse } from './status.ts';

/** Keys of the required Secret that status and logs may name. */
const harmless = new Set(['cluster_id', 'credentials_namespace']);

/** The required Secret as it is, label or not. */
export async function readSecret(run: BtpRun): Promise<DeepReadonly<Secret> | undefined> {
  const { chartNamespace, secretName } = run.settings;
  const secret = await run.context.client.get(Secret, { namespace: chartNamespace, name: secretName });
  if (secret?.data) run.redaction.learn(secret.data, harmless);
  return secret;
}

/** Steps 5 and 6: the Secret has to be there and complete. */
export async function readCredentials(
  run: BtpRun,
): Promise<{ secret: DeepReadonly<Secret>; credentials: Credentials }> {
  const found = await orRefuse('InvalidSecret', () => readSecret(run), 'unable to get Secret: ');
  const secret = requireSecret(found, run.settings);
  return { secret, credentials: requireCredentials(secret, run.settings) };
}
