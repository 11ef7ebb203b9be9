import { onReference } from '../test-cluster.ts';

/** How many storms each lane plays. */
export interface StormCounts {
  /** `npm test`. */
  readonly quick: number;
  /** `npm run test:sweep`. Default 200. */
  readonly full?: number;
  /** On the reference cluster. Default 20. */
  readonly reference?: number;
}

/** The seeds to play: the one `SLIPWAY_STORM` names, or as many as the lane asks for. */
export function stormSeeds({ quick, full = 200, reference = 20 }: StormCounts): string[] {
  const wanted = process.env['SLIPWAY_STORM'];
  if (wanted) return wanted.split(',');
  const count = onReference ? reference : process.env['SLIPWAY_SWEEP'] === 'full' ? full : quick;
  return Array.from({ length: count }, (_, index) => String(index + 1));
}
