export { findOracle, type FoundOracle, type NoOracle } from './build.ts';
export type { OracleName } from './oracle.ts';
