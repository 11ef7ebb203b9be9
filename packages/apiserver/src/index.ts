export { startCluster, type Cluster, type ClusterOptions, type ObservedChange } from './cluster.ts';
export { keepProcessLean } from './lean-process.ts';
export type { ControllerMode } from './controllers/start-controllers.ts';
export type { Manifest } from './manifests.ts';
export {
  Faults,
  ConnectionLost,
  type FaultAction,
  type FaultMatch,
  type FaultRule,
  type InterceptedRequest,
  type Interceptor,
} from './faults.ts';
export type { InProcessTransport } from './in-process.ts';
export { ApiServer, type ApiRequest, type ApiResponse, type StreamSink } from './server.ts';
export { AuthenticationConfigurationError } from './auth/authentication-configuration.ts';
export { StorageError, type StorageErrorCode } from './store/storage-error.ts';
export type { HistoryOptions } from './store/store.ts';
export type { UserInfo } from './auth/auth.ts';
export type { ApiObject, Metadata } from './object.ts';
export { systemClock, type Clock, type Timer } from './clock.ts';
export { systemRandom, type Random } from './random.ts';
