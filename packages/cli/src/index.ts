export { runSlipway } from './program.ts';
export { findOperators, operatorPackages } from './operators.ts';
export type { Terminal } from './terminal.ts';
