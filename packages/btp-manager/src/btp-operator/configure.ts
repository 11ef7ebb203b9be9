import { ConfigMap } from '@slipway/kube';
import type { ReconcileContext } from '@slipway/runtime';

import type { ManagerMetrics } from '../metrics.ts';
import { withConfigMap, type Settings } from '../settings/settings.ts';

/** The settings in force now: flags and defaults with the ConfigMap on top, read anew for each reconciliation. */
export async function readSettings(
  context: ReconcileContext,
  base: Settings,
  metrics: ManagerMetrics,
): Promise<Settings> {
  const key = { namespace: base.chartNamespace, name: base.configName };
  const configMap = await context.client.get(ConfigMap, key);
  metrics.customConfiguration(configMap !== undefined);
  const { settings, problems } = withConfigMap(base, configMap?.data);
  for (const { name, message } of problems)
    context.log.warn('a setting cannot be used', { configMap: base.configName, setting: name, message });
  return settings;
}
