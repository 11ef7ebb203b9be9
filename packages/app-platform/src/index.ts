export { GitError, type GitErrorCode } from './git/git-error.ts';
export {
  commitAndPush,
  commitMessages,
  skipMarker,
  type PushOptions,
  type PushOutcome,
} from './git/commit-and-push.ts';
export type { GitCredentials } from './git/credentials.ts';
export { remoteHeads, type GitRemote, type RemoteHeads } from './git/remote-head.ts';
export { WorkingCopy, type WorkingCopyOptions } from './git/working-copy.ts';
