export {
  ensureReferenceBinaries,
  type EnsureReferenceBinariesOptions,
  type NoReferenceBinaries,
  type ReferenceBinaries,
} from './build.ts';
export type { ComponentName } from './components.ts';
export { freePorts } from './free-ports.ts';
export type { ImageTable, ProcessImage } from './process-node/images.ts';
export { processNodeProblem } from './process-node/pod-network.ts';
export {
  type ProcessNodeOptions,
  type ReferenceCluster,
  type ReferenceClusterOptions,
  ReferenceClusterUnavailable,
  startReferenceCluster,
} from './start-reference-cluster.ts';
export { acquireBuildLock } from './build-lock.ts';
export { cacheDirectory } from './cache-directory.ts';
export { buildGoProgram, type GoProgram, goProblem, isExecutable } from './go-program.ts';
