import type { DeepReadonly, Secret } from '@slipway/kube';

import { names } from '../names.ts';
import { Refusal } from '../reasons.ts';
import type { Settings } from '../settings/settings.ts';

/** Keys without which the service operator cannot work, in the order they are reported in. */
const requiredKeys = ['clientid', 'clientsecret', 'sm_url', 'tokenurl', 'cluster_id'] as const;

/** What the required Secret says. */
export interface Credentials {
  /** As stored: base64. */
  readonly data: Readonly<Record<string, string>>;
  readonly clusterId: string;
  /** Where the service operator keeps its credentials. */
  readonly namespace: string;
}

/** Whether the manager may take the Secret for the required one. */
export function isVisible(secret: DeepReadonly<Secret>): boolean {
  const label = secret.metadata.labels?.[names.managedByLabel];
  return label === names.managedByBroker || label === names.managedByUs;
}

/** Whether a Secret has the keys of a required one. Nothing the manager makes has all of them. */
export function hasRequiredKeys({ data = {} }: DeepReadonly<Secret>): boolean {
  return requiredKeys.every((key) => data[key] !== undefined);
}

/** Step 5: the Secret has to be there, with its label. */
export function requireSecret(
  secret: DeepReadonly<Secret> | undefined,
  settings: Pick<Settings, 'secretName' | 'chartNamespace'>,
): DeepReadonly<Secret> {
  const what = `${settings.secretName} Secret in ${settings.chartNamespace} namespace`;
  if (!secret) throw new Refusal('MissingSecret', `${what} not found`);
  if (!isVisible(secret)) {
    throw new Refusal(
      'MissingSecret',
      `${what} not found: there is one, but without the label ${names.managedByLabel}: ${names.managedByBroker}`,
    );
  }
  return secret;
}

/** Step 6: all keys have to be there, with values. */
export function requireCredentials(
  secret: DeepReadonly<Secret>,
  settings: Pick<Settings, 'chartNamespace'>,
): Credentials {
  const data: Readonly<Record<string, string>> = secret.data ?? {};
  const missing = requiredKeys.filter((key) => data[key] === undefined);
  const empty = requiredKeys.filter((key) => data[key] !== undefined && decode(data[key]) === '');
  const problems = [
    ...(missing.length > 0 ? [`key(s) ${missing.join(', ')} not found`] : []),
    ...(empty.length > 0 ? [`missing value(s) for ${empty.join(', ')} key(s)`] : []),
  ];
  if (problems.length > 0) throw new Refusal('InvalidSecret', problems.join(', '));
  return {
    data,
    clusterId: decode(data['cluster_id']),
    namespace: credentialsNamespace(secret, settings),
  };
}

/** Also for a Secret that lacks the rest: deprovisioning has to find what was made. */
export function credentialsNamespace(
  secret: DeepReadonly<Secret> | undefined,
  settings: Pick<Settings, 'chartNamespace'>,
): string {
  return decode(secret?.data?.['credentials_namespace']) || settings.chartNamespace;
}

function decode(text: string | undefined): string {
  return text === undefined ? '' : Buffer.from(text, 'base64').toString('utf8');
}
