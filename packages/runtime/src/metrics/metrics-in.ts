import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Finds or makes the metrics of a registry. */
export interface MetricsOfRegistry {
  readonly counter: (name: string, help: string, labelNames?: string[]) => Counter;
  readonly gauge: (name: string, help: string, labelNames?: string[]) => Gauge;
  /** `buckets`: upper bounds, in seconds. */
  readonly histogram: (name: string, help: string, labelNames: string[], buckets: number[]) => Histogram;
}

/** The metrics of a registry by name, made when they are first asked for: a reconciler may ask each time it runs. */
export function metricsIn(registry: Registry): MetricsOfRegistry {
  const registers = [registry];
  const found = <M>(name: string) => registry.getSingleMetric(name) as M | undefined;
  return {
    counter: (name, help, labelNames = []) =>
      found<Counter>(name) ?? new Counter({ name, help, labelNames, registers }),
    gauge: (name, help, labelNames = []) => found<Gauge>(name) ?? new Gauge({ name, help, labelNames, registers }),
    histogram: (name, help, labelNames, buckets) =>
      found<Histogram>(name) ?? new Histogram({ name, help, labelNames, buckets, registers }),
  };
}
