import { metricsIn } from '@slipway/runtime';
import type { Registry } from 'prom-client';

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

const buckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The metrics in `registry`, made at the first call. */
export function operandMetrics(registry: Registry): OperandMetrics {
  const { counter, histogram } = metricsIn(registry);
  const drift = counter('slipway_operand_drift_total', 'Members found different from their manifest.', [
    'operand',
    'result',
  ]);
  const pruned = counter('slipway_operand_pruned_objects_total', 'Objects deleted because they left their set.', [
    'operand',
  ]);
  const passes = histogram(
    'slipway_operand_pass_seconds',
    'Duration of a pass over a set.',
    ['operand', 'extent'],
    buckets,
  );
  const waves = histogram(
    'slipway_operand_wave_seconds',
    'Duration of one wave of a pass.',
    ['operand', 'wave'],
    buckets,
  );
  return {
    drift: (operand, result) => drift.inc({ operand, result }),
    pruned: (operand, objects) => pruned.inc({ operand }, objects),
    pass: (operand, extent, seconds) => passes.observe({ operand, extent }, seconds),
    wave: (operand, wave, seconds) => waves.observe({ operand, wave }, seconds),
  };
}
