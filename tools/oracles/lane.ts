import { findOracle, type FoundOracle, type NoOracle } from './build.ts';
import type { OracleName } from './oracle.ts';

/** Whether this run asks oracles. `npm test` does not, even where they are built: it is as long and as strict on every machine. */
const isLane = process.env['SLIPWAY_CLUSTER'] === 'reference';

/** An oracle for a test, in the lane that asks oracles; elsewhere the command that runs the lane. */
export async function oracleInLane(name: OracleName): Promise<FoundOracle | NoOracle> {
  return isLane ? await findOracle(name) : { available: false, reason: 'npm run test:reference asks it' };
}
