import { metricsIn } from '@slipway/runtime';
import type { Registry } from 'prom-client';

/** What the manager counts, under the names of the original. */
export interface ManagerMetrics {
  certificatesRegenerated(): void;
  customConfiguration(applied: boolean): void;
  credentialProbe(alert: boolean): void;
}

/** The metrics in `registry`, made at the first call. */
export function managerMetrics(registry: Registry): ManagerMetrics {
  const { counter, gauge } = metricsIn(registry);
  const regenerations = counter(
    'btpmanager_certs_regenerations_total',
    'How often certificates of the webhooks were made anew.',
  );
  const configuration = gauge('btpmanager_custom_config_applied', 'Whether settings from the ConfigMap are in force.');
  const probe = gauge('btpmanager_credential_probe_status', 'Whether the CA bundle probe raised an alert.');
  return {
    certificatesRegenerated: () => regenerations.inc(),
    customConfiguration: (applied) => configuration.set(applied ? 1 : 0),
    credentialProbe: (alert) => probe.set(alert ? 1 : 0),
  };
}
