export { appPlatformController, type AppPlatformOptions } from './controller.ts';
export {
  commitAndPush,
  commitMessages,
  skipMarker,
  type PushOptions,
  type PushOutcome,
} from './git/commit-and-push.ts';
export type { GitCredentials } from './git/credentials.ts';
export { GitError, type GitErrorCode } from './git/git-error.ts';
export { remoteHeads, type GitRemote, type RemoteHeads } from './git/remote-head.ts';
export { WorkingCopy, type WorkingCopyOptions } from './git/working-copy.ts';
export { startGitServer, type GitServer, type GitServerOptions } from './git-server/git-server.ts';
export { names } from './names.ts';
export { appPlatformOperator } from './operator.ts';
export { OperatorError } from './operator-error.ts';
export type { Helmfile, HelmfileSelection, PlatformRelease } from './platform/helmfile.ts';
export { nativeHelmfile, type NativeHelmfileOptions } from './platform/native-helmfile.ts';
export type { RuntimeUpgrade, UpgradeOperation } from './platform/runtime-upgrade.ts';
export { nativeSyncController, type NativeSyncController, type NativeSyncOptions } from './sync/controller.ts';
export { settingsFrom, type PlatformSettings } from './settings.ts';
export { PlatformRoot } from './values/platform-root.ts';
export { ValuesError, type ValuesProblem } from './values/values-error.ts';
