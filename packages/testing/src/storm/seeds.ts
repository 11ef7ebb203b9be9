import { skipped } from '../skipped.ts';
import { onReference } from '../test-cluster.ts';

/** How many storms each lane plays. */
export interface StormCounts {
  /** `npm test`. */
  readonly quick: number;
  /** `npm run test:sweep`. Default 200. */
  readonly full?: number;
  /** On the reference cluster, where each takes many seconds. Default 6; `SLIPWAY_SWEEP=full` plays 20. */
  readonly reference?: number;
}

/** The seeds to play: the one `SLIPWAY_STORM` names, or as many as the lane asks for. */
export function stormSeeds({ quick, full = 200, reference = 6 }: StormCounts): string[] {
  const wanted = process.env['SLIPWAY_STORM'];
  if (wanted) return wanted.split(',');
  const whole = process.env['SLIPWAY_SWEEP'] === 'full';
  skipped(onReference && !whole, `on the real API server: all storms but ${reference}; SLIPWAY_SWEEP=full plays 20`);
  skipped(!onReference && !whole, `all storms but ${quick}; SLIPWAY_SWEEP=full plays ${full}`);
  const count = onReference ? (whole ? 20 : reference) : whole ? full : quick;
  return Array.from({ length: count }, (_, index) => String(index + 1));
}
