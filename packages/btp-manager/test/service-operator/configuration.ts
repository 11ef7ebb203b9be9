import { parseDuration } from '@slipway/kube';

import { variables, type VariableFact } from '../service-operator-facts.ts';
import { goBoolean } from './command-line.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the program takes from its environment. */
export interface Configuration {
  readonly clusterId: string;
  readonly initialClusterId: string;
  readonly releaseNamespace: string;
  readonly managementNamespace: string;
  readonly syncPeriodMs: number;
  readonly retryBaseMs: number;
  readonly appVersion: string;
  readonly webhooks: boolean;
  readonly temporaryFolder: string;
}

/** Reads every variable it knows; one of another type ends the program. */
export function readConfiguration(env: Environment): Configuration {
  const values = new Map(Object.entries(variables).map(([name, fact]) => [name, checked(name, fact, env[name])]));
  const text = (name: string) => values.get(name) ?? '';
  return {
    clusterId: text('CLUSTER_ID'),
    initialClusterId: text('INITIAL_CLUSTER_ID'),
    releaseNamespace: text('RELEASE_NAMESPACE'),
    managementNamespace: text('MANAGEMENT_NAMESPACE'),
    syncPeriodMs: parseDuration(text('SYNC_PERIOD')),
    retryBaseMs: parseDuration(text('RETRY_BASE_DELAY')),
    appVersion: text('APP_VERSION'),
    webhooks: text('ENABLE_WEBHOOKS') !== 'false',
    temporaryFolder: text('TMPDIR'),
  };
}

function checked(name: string, { type, default: otherwise }: VariableFact, given: string | undefined): string {
  const value = given || otherwise || '';
  if (type === 'boolean' && goBoolean(value) === undefined) {
    throw new Error(`assigning ${name}: "${value}" is no truth value`);
  }
  if (type === 'duration') parseDuration(value);
  return value;
}
