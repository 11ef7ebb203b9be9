import { Counter, Histogram, type Registry } from 'prom-client';

/** What the Operand operator counts, besides what every controller does. */
export interface OperandMetrics {
  /** A member was not as it should and was put right (or, by policy, left). */
  drift(operand: string, result: 'corrected' | 'left'): void;
  pruned(operand: string, objects: number): void;
  /** A pass over a set took this long, in seconds. */
  pass(operand: string, extent: 'full' | 'partial', seconds: number): void;
  /** A wave of a pass took this long, in seconds. */
  wave(operand: string, wave: string, seconds: number): void;
}

/** The metrics in `registry`, made at the first call. */
export function operandMetrics(registry: Registry): OperandMetrics {
  const drift = counter(registry, 'slipway_operand_drift_total', 'Members found different from their manifest.', [
    'operand',
    'result',
  ]);
  const pruned = counter(
    registry,
    'slipway_operand_pruned_objects_total',
    'Objects deleted because they left their set.',
    ['operand'],
  );
  const passes = histogram(registry, 'slipway_operand_pass_seconds', 'Duration of a pass over a set.', [
    'operand',
    'extent',
  ]);
  const waves = histogram(registry, 'slipway_operand_wave_seconds', 'Duration of one wave of a pass.', [
    'operand',
    'wave',
  ]);
  return {
    drift: (operand, result) => drift.inc({ operand, result }),
    pruned: (operand, objects) => pruned.inc({ operand }, objects),
    pass: (operand, extent, seconds) => passes.observe({ operand, extent }, seconds),
    wave: (operand, wave, seconds) => waves.observe({ operand, wave }, seconds),
  };
}

function counter(registry: Registry, name: string, help: string, labelNames: string[]): Counter {
  return (
    (registry.getSingleMetric(name) as Counter | undefined) ??
    new Counter({ name, help, labelNames, registers: [registry] })
  );
}

function histogram(registry: Registry, name: string, help: string, labelNames: string[]): Histogram {
  return (
    (registry.getSingleMetric(name) as Histogram | undefined) ??
    new Histogram({
      name,
      help,
      labelNames,
      registers: [registry],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    })
  );
}
