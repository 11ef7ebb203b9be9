import type { Target } from '../target.ts';
import { done, type StepOutcome } from './outcome.ts';

/** Takes a step with one wave after the other, up to the first that has to wait or fails. */
export async function inWaves(
  targets: readonly Target[],
  step: (wave: readonly Target[], isLast: boolean) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const waves = [...Map.groupBy(targets, ({ wave }) => wave)].sort(([a], [b]) => a - b);
  for (const [index, [, wave]] of waves.entries()) {
    const outcome = await step(wave, index === waves.length - 1);
    if (outcome.state !== 'done') return outcome;
  }
  return done;
}
