export { exitCodes } from './cli-error.ts';
export { installObjects, workloadObjects, type InstallOptions } from './install-objects.ts';
export { findOperators, inOrder, operatorPackages, type OperatorPackage } from './operators.ts';
export { rbacObjects, type RbacOptions } from './permissions.ts';
export { runSlipway } from './program.ts';
export { runProcess } from './run-process.ts';
export type { Terminal } from './terminal.ts';
