export { findOracle, type FoundOracle, type NoOracle } from './build.ts';
export { oracleInLane } from './lane.ts';
export type { OracleName } from './oracle.ts';
