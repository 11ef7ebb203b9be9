import { spawn } from 'node:child_process';

/** Ends processes and removes a folder when this process dies without having done it, even by SIGKILL. */
export interface OrphanGuard {
  /** Replaces the list of processes to end. */
  watch(pids: readonly number[]): void;
  /** Everything is cleaned up: the guard goes without doing anything. */
  dismiss(): void;
}

// The pipe to its standard input is held by this process alone; whatever ends this process closes it.
const script = `
trap '' INT HUP
while read -r line; do
  [ "$line" = dismiss ] && exit 0
  pids=$line
done
[ -n "$pids" ] && kill -9 $pids 2>/dev/null
directory=$1
shift
[ $# -gt 0 ] && "$@"
/bin/rm -rf "$directory"
`;

/** `lastly` is a command to run when the processes are gone. */
export function startOrphanGuard(directory: string, lastly: readonly string[] = []): OrphanGuard {
  const guard = spawn('/bin/sh', ['-c', script, 'orphan-guard', directory, ...lastly], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell there is no guard; the ordinary way to stop still works.
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  guard.unref();
  return {
    watch: (pids) => void guard.stdin.write(`${pids.join(' ')}\n`),
    dismiss: () => void guard.stdin.end('dismiss\n'),
  };
}
