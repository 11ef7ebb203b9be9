import { join } from 'node:path';
import { parseDuration } from '@slipway/kube';

import { manifestsDir } from '../manifests-dir.ts';

/** What can be configured. Durations in milliseconds. */
export interface Settings {
  readonly chartNamespace: string;
  readonly secretName: string;
  readonly configName: string;
  readonly deploymentName: string;
  readonly chartPath: string;
  readonly resourcesPath: string;
  readonly managerResourcesPath: string;
  readonly processingStateRequeueIntervalMs: number;
  readonly readyStateRequeueIntervalMs: number;
  readonly readyTimeoutMs: number;
  readonly readyCheckIntervalMs: number;
  readonly hardDeleteTimeoutMs: number;
  readonly hardDeleteCheckIntervalMs: number;
  readonly deleteRequestTimeoutMs: number;
  readonly statusUpdateTimeoutMs: number;
  readonly statusUpdateCheckIntervalMs: number;
  readonly enableLimitedCache: string;
  readonly probeIntervalMs: number;
  readonly caCertificateExpirationMs: number;
  readonly webhookCertificateExpirationMs: number;
  /** Negative: how long before its end a certificate is replaced. */
  readonly expirationBoundaryMs: number;
  readonly rsaKeyBits: number;
}

type SettingType = 'string' | 'duration' | 'integer';

export interface SettingRow {
  readonly setting: keyof Settings;
  /** Key in the ConfigMap. */
  readonly key: string;
  /** Absent: only the ConfigMap has it. */
  readonly flag?: string;
  readonly type: SettingType;
  readonly default: string;
  readonly description: string;
  /** Why a value cannot be used, or `undefined`. */
  readonly refuse?: (value: number) => string | undefined;
}

const positive = (value: number) => (value > 0 ? undefined : 'must be above 0');
const notNegative = (value: number) => (value >= 0 ? undefined : 'must not be negative');
const keySizes = (value: number) => ([2048, 3072, 4096].includes(value) ? undefined : 'must be 2048, 3072 or 4096');

/** Every setting: flags, ConfigMap keys and the documentation come from this table. */
export const settingRows: readonly SettingRow[] = [
  row('chartNamespace', 'ChartNamespace', 'string', 'kyma-system', 'Namespace of the service operator.'),
  row('secretName', 'SecretName', 'string', 'sap-btp-manager', 'Name of the required Secret.'),
  row('configName', 'ConfigName', 'string', 'sap-btp-manager', 'Name of the ConfigMap with these settings.'),
  row(
    'deploymentName',
    'DeploymentName',
    'string',
    'sap-btp-operator-controller-manager',
    'Name of the Deployment of the service operator.',
  ),
  row('chartPath', 'ChartPath', 'string', join(manifestsDir, 'module-chart', 'chart'), 'Folder with Chart.yaml.'),
  row(
    'resourcesPath',
    'ResourcesPath',
    'string',
    join(manifestsDir, 'module-resources'),
    'Folder with `apply` and `delete`.',
  ),
  row(
    'managerResourcesPath',
    'ManagerResourcesPath',
    'string',
    join(manifestsDir, 'manager-resources'),
    'Folder with `network-policies`.',
  ),
  row(
    'processingStateRequeueIntervalMs',
    'ProcessingStateRequeueInterval',
    'duration',
    '5m',
    'When a module that is being processed, or has failed on the way, is looked at again.',
    positive,
  ),
  row(
    'readyStateRequeueIntervalMs',
    'ReadyStateRequeueInterval',
    'duration',
    '15m',
    'When a ready module is looked at again.',
    positive,
  ),
  row('readyTimeoutMs', 'ReadyTimeout', 'duration', '5m', 'How long resources may take to become ready.', notNegative),
  row(
    'readyCheckIntervalMs',
    'ReadyCheckInterval',
    'duration',
    '30s',
    'How often resources are looked at while they become ready; changes are noticed at once.',
    positive,
  ),
  row(
    'hardDeleteTimeoutMs',
    'HardDeleteTimeout',
    'duration',
    '20m',
    'How long service instances and bindings may take to go.',
    notNegative,
  ),
  row(
    'hardDeleteCheckIntervalMs',
    'HardDeleteCheckInterval',
    'duration',
    '10s',
    'How often they are counted meanwhile; changes are noticed at once.',
    positive,
  ),
  row(
    'deleteRequestTimeoutMs',
    'DeleteRequestTimeout',
    'duration',
    '5m',
    'How long module resources may take to go before that is an error.',
    positive,
  ),
  row(
    'statusUpdateTimeoutMs',
    'StatusUpdateTimeout',
    'duration',
    '10s',
    'How long writing the status is tried.',
    positive,
  ),
  row(
    'statusUpdateCheckIntervalMs',
    'StatusUpdateCheckInterval',
    'duration',
    '500ms',
    'Pause between two tries of it.',
    positive,
  ),
  row(
    'enableLimitedCache',
    'EnableLimitedCache',
    'string',
    'true',
    'Passed to the service operator: whether it caches labelled Secrets only.',
  ),
  row(
    'probeIntervalMs',
    'ProbeInterval',
    'duration',
    '1h',
    'How often the CA bundle probe runs; 0 turns it off.',
    notNegative,
  ),
  configMapOnly(
    'caCertificateExpirationMs',
    'CaCertificateExpiration',
    'duration',
    '87600h',
    'Life of the CA.',
    positive,
  ),
  configMapOnly(
    'webhookCertificateExpirationMs',
    'WebhookCertificateExpiration',
    'duration',
    '8760h',
    'Life of the webhook certificate.',
    positive,
  ),
  configMapOnly(
    'expirationBoundaryMs',
    'ExpirationBoundary',
    'duration',
    '-168h',
    'Certificates are replaced when this much (negative) is left of their life.',
    (value) => (value <= 0 ? undefined : 'must be negative or 0'),
  ),
  configMapOnly('rsaKeyBits', 'RsaKeyBits', 'integer', '4096', 'Size of new keys.', keySizes),
];

function row(
  setting: keyof Settings,
  key: string,
  type: SettingType,
  fallback: string,
  description: string,
  refuse?: SettingRow['refuse'],
): SettingRow {
  const flag = key.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  return { ...configMapOnly(setting, key, type, fallback, description, refuse), flag };
}

function configMapOnly(
  setting: keyof Settings,
  key: string,
  type: SettingType,
  fallback: string,
  description: string,
  refuse?: SettingRow['refuse'],
): SettingRow {
  return { setting, key, type, default: fallback, description, ...(refuse ? { refuse } : {}) };
}

/** A value that cannot be used, and why. The value itself may be anything and is quoted only when short. */
export interface SettingProblem {
  readonly name: string;
  readonly message: string;
}

const rowsByKey = new Map(settingRows.map((entry) => [entry.key, entry]));

function parse(entry: SettingRow, text: string): string | number {
  if (entry.type === 'string') return text;
  let value: number;
  if (entry.type === 'duration') value = parseDuration(text.trim());
  else if (/^[-+]?\d+$/.test(text.trim())) value = Number(text);
  else throw new TypeError(`"${text}" is not a whole number`);
  const refusal = entry.refuse?.(value);
  if (refusal !== undefined) throw new TypeError(`"${text}" ${refusal}`);
  return value;
}

/** The settings a process starts with: defaults under the given flags. A flag that cannot be used is an error: nobody is there to read a log yet. */
export function settingsFromFlags(flags: Readonly<Record<string, string | undefined>> = {}): Settings {
  const values: Record<string, string | number> = {};
  for (const entry of settingRows) {
    const text = entry.flag === undefined ? undefined : flags[entry.flag];
    try {
      values[entry.setting] = parse(entry, text ?? entry.default);
    } catch (error) {
      throw new Error(`--${entry.flag}: ${(error as Error).message}`, { cause: error });
    }
  }
  return values as unknown as Settings;
}

/**
 * `base` with the data of the ConfigMap laid over it. Computed anew each time, so a key that goes restores what the flag or the
 * default said. A value that cannot be used is reported and left out.
 */
export function withConfigMap(
  base: Settings,
  data: Readonly<Record<string, string>> | undefined,
): { settings: Settings; problems: readonly SettingProblem[] } {
  const values: Record<string, string | number> = {};
  const problems: SettingProblem[] = [];
  for (const [key, text] of Object.entries(data ?? {})) {
    const entry = rowsByKey.get(key);
    if (!entry) {
      problems.push({ name: key, message: 'is not a setting' });
      continue;
    }
    try {
      values[entry.setting] = parse(entry, text);
    } catch (error) {
      problems.push({ name: key, message: (error as Error).message });
    }
  }
  return { settings: { ...base, ...values }, problems };
}
