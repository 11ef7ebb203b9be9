export interface TimeSources {
  /** Milliseconds the machine has been running; may stand still while it sleeps. */
  readonly running: () => number;
  /** Epoch milliseconds; anybody may set them. */
  readonly wall: () => number;
  /** Milliseconds since the machine was started, its sleep included, in coarse steps. `undefined`: `running` includes sleep. */
  readonly sinceBoot?: (() => number) | undefined;
}

/** So far wall and running time may drift apart before it is worth asking why. */
const toleranceMs = 200;
/** What the steps of `sinceBoot` amount to. */
const coarsenessMs = 50;

/**
 * Elapsed milliseconds that include the machine's sleep and no setting of its clock. Asking for the time since boot is a hundred
 * times as dear as the other two, so it is asked only when those two have drifted apart: then either the clock was set or the
 * machine has slept, and it tells which.
 */
export function elapsedTime({ running, wall, sinceBoot }: TimeSources): () => number {
  if (!sinceBoot) return running;
  let drift = wall() - running();
  let slept = 0;
  const awake = sinceBoot() - running();
  return () => {
    const now = running();
    const drifted = wall() - now;
    if (Math.abs(drifted - drift) > toleranceMs) {
      drift = drifted;
      const sleptSince = sinceBoot() - now - awake - slept;
      if (sleptSince > coarsenessMs) slept += sleptSince;
    }
    return now + slept;
  };
}
