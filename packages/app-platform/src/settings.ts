import { join } from 'node:path';

import { OperatorError } from './operator-error.ts';

/** Settings of the operator, from the environment variables of the same names in capitals. */
export interface PlatformSettings {
  /** Working copy of the values repository. */
  readonly envDir: string;
  /** YAML file with the values of the first installation. */
  readonly valuesInput: string | undefined;
  readonly pollIntervalMs: number;
  readonly reconcileIntervalMs: number;
  /** How often the sources of Applications are asked for new commits. */
  readonly syncIntervalMs: number;
  readonly gitTimeoutMs: number;
  /** How often and with which pause a Git server is waited for. */
  readonly retries: number;
  readonly minTimeoutMs: number;
  /** The values repository, without credentials. */
  readonly repoUrl: string;
  readonly branch: string;
  /** Where Argo CD finds the charts. */
  readonly appsRepoUrl: string;
  readonly appsRevision: string | undefined;
  readonly sopsAgeKey: string | undefined;
  /** Where a Git server announces pushes. */
  readonly pushWebhook: { readonly port: number; readonly secretFile: string } | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings; a value of the wrong type is refused by name. */
export function settingsFrom(env: Environment, cwd: string): PlatformSettings {
  const text = (name: string): string | undefined => env[name] || undefined;
  const integer = (name: string, usual: number): number => {
    const given = text(name);
    if (given === undefined) return usual;
    if (!/^\d+$/.test(given)) throw notWhole(name, given);
    return Number(given);
  };
  const protocol = text('GIT_PROTOCOL') ?? 'http';
  const host = text('GIT_URL') ?? 'gitea-http.gitea.svc.cluster.local';
  const port = text('GIT_PORT') ?? '3000';
  return {
    envDir: text('ENV_DIR') ?? join(cwd, 'env'),
    valuesInput: text('VALUES_INPUT'),
    pollIntervalMs: integer('POLL_INTERVAL_MS', 30_000),
    reconcileIntervalMs: integer('RECONCILE_INTERVAL_MS', 300_000),
    syncIntervalMs: integer('SYNC_INTERVAL_MS', 180_000),
    gitTimeoutMs: integer('GIT_OP_TIMEOUT_MS', 10_000),
    retries: integer('RETRIES', 60),
    minTimeoutMs: integer('MIN_TIMEOUT', 30_000),
    repoUrl: `${protocol}://${host}:${port}/${text('GIT_ORG') ?? 'otomi'}/${text('GIT_REPO') ?? 'values'}.git`,
    branch: 'main',
    appsRepoUrl: text('APPS_REPO_URL') ?? 'https://github.com/linode/apl-core.git',
    appsRevision: text('APPS_REVISION'),
    sopsAgeKey: text('SOPS_AGE_KEY'),
    pushWebhook: pushWebhook(text('PUSH_WEBHOOK_PORT'), text('PUSH_WEBHOOK_SECRET_FILE')),
  };
}

/** Without a secret everybody who reaches the port could keep the operator busy. */
function pushWebhook(port: string | undefined, secretFile: string | undefined): PlatformSettings['pushWebhook'] {
  if (port === undefined) return undefined;
  if (!/^\d+$/.test(port)) throw notWhole('PUSH_WEBHOOK_PORT', port);
  if (secretFile === undefined)
    throw new OperatorError('InvalidSetting', 'PUSH_WEBHOOK_PORT needs PUSH_WEBHOOK_SECRET_FILE; set both or neither');
  return { port: Number(port), secretFile };
}

function notWhole(name: string, given: string): OperatorError {
  return new OperatorError('InvalidSetting', `${name}: '${given}' is not a whole number; give one, such as 1000`);
}
