import { Counter, Gauge, type Registry } from 'prom-client';

/** What the manager counts, under the names of the original. */
export interface ManagerMetrics {
  certificatesRegenerated(): void;
  customConfiguration(applied: boolean): void;
  credentialProbe(alert: boolean): void;
}

const known = new WeakMap<Registry, ManagerMetrics>();

/** The metrics of a manager; the same ones each time they are asked for. */
export function managerMetrics(registry: Registry): ManagerMetrics {
  const found = known.get(registry);
  if (found) return found;
  const registers = [registry];
  const regenerations = new Counter({
    name: 'btpmanager_certs_regenerations_total',
    help: 'How often certificates of the webhooks were made anew.',
    registers,
  });
  const configuration = new Gauge({
    name: 'btpmanager_custom_config_applied',
    help: 'Whether settings from the ConfigMap are in force.',
    registers,
  });
  const probe = new Gauge({
    name: 'btpmanager_credential_probe_status',
    help: 'Whether the CA bundle probe raised an alert.',
    registers,
  });
  const metrics: ManagerMetrics = {
    certificatesRegenerated: () => regenerations.inc(),
    customConfiguration: (applied) => configuration.set(applied ? 1 : 0),
    credentialProbe: (alert) => probe.set(alert ? 1 : 0),
  };
  known.set(registry, metrics);
  return metrics;
}
