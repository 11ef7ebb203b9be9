export {
  ensureReferenceBinaries,
  type EnsureReferenceBinariesOptions,
  type NoReferenceBinaries,
  type ReferenceBinaries,
} from './build.ts';
export type { ComponentName } from './components.ts';
export {
  type ReferenceCluster,
  type ReferenceClusterOptions,
  ReferenceClusterUnavailable,
  startReferenceCluster,
} from './start-reference-cluster.ts';
export { acquireBuildLock } from './build-lock.ts';
export { cacheDirectory } from './cache-directory.ts';
export { buildGoProgram, type GoProgram, goProblem, isExecutable } from './go-program.ts';
