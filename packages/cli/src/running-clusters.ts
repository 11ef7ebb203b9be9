import { readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, connect, exitCodes, findConnection, type Connection, type Terminal } from '@slipway/kube';

import { makeFolder } from './make-folder.ts';

/** Where an embedded cluster listens when nobody says; another free port is taken when it is in use. */
export const usualPort = 16_443;
/** How its kubeconfig is called; on another port with that behind it. */
const usualName = 'kubeconfig';
/** A cluster on this machine answers at once, or is gone. */
const answersWithinMs = 2_000;

type Place = Pick<Terminal, 'env' | 'cwd'>;

function stateFolder({ env, cwd }: Place): string {
  return join(env['XDG_STATE_HOME'] || join(env['HOME'] ?? cwd, '.local', 'state'), 'slipway');
}

/** Where the kubeconfig of the cluster on a port is when nobody says. Two clusters at a time have two files. */
export function kubeconfigPlace(place: Place, port: number): string {
  return join(stateFolder(place), port === usualPort ? usualName : `${usualName}-${port}`);
}

/** Makes a kubeconfig that was written elsewhere findable for other commands, while its cluster runs. */
export async function announceKubeconfig(place: Place, port: number, file: string): Promise<AsyncDisposable> {
  const link = kubeconfigPlace(place, port);
  const remove = () => rm(link, { force: true });
  try {
    await makeFolder(stateFolder(place), '');
    await remove();
    await symlink(file, link);
  } catch {
    // Others then have to name the file; this cluster does not need it.
    return { async [Symbol.asyncDispose]() {} };
  }
  return { [Symbol.asyncDispose]: remove };
}

/** The kubeconfigs of the embedded clusters of this user that answer. */
export async function runningClusters(terminal: Pick<Terminal, 'env' | 'cwd' | 'clock'>): Promise<string[]> {
  const folder = stateFolder(terminal);
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name === usualName || name.startsWith(`${usualName}-`)).sort();
  const found = await Promise.all(
    files.map(async (name) => ((await answers(terminal, join(folder, name))) ? [join(folder, name)] : [])),
  );
  return found.flat();
}

async function answers({ env, clock }: Pick<Terminal, 'env' | 'clock'>, file: string): Promise<boolean> {
  try {
    await using cluster = connect(await findConnection({ file, env }), { clock });
    await cluster.client.serverVersion({ signal: AbortSignal.timeout(answersWithinMs) });
    return true;
  } catch {
    return false;
  }
}

/** The one embedded cluster that runs beside; `undefined` when there is none. */
export async function connectionBeside(terminal: Terminal): Promise<Connection | undefined> {
  const [file, ...others] = await runningClusters(terminal);
  if (file === undefined) return undefined;
  if (others.length > 0)
    throw new CommandError(`several clusters of slipway run: ${[file, ...others].join(', ')}`, {
      hint: 'name the kubeconfig of one with --kubeconfig FILE',
      exitCode: exitCodes.unreachable,
    });
  terminal.err(`on the cluster of slipway that runs beside: ${file}\n`);
  return await findConnection({ file, env: terminal.env });
}
