export { installObjects, type InstallOptions } from './install-objects.ts';
export {
  findCommands,
  findOperators,
  findPackages,
  inOrder,
  type CommandModule,
  type SlipwayPackage,
} from './packages.ts';
export { rbacObjects, type RbacOptions } from './permissions.ts';
export { runSlipway } from './program.ts';
export { runProcess } from './run-process.ts';
export type { FoundCommand, Installation } from './slipway-command.ts';
