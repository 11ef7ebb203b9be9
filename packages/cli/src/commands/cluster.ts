import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startCluster, type Cluster } from '@slipway/apiserver';

import { CliError } from '../cli-error.ts';
import { styled, type Terminal } from '../terminal.ts';
import type { CommandContext } from './context.ts';

export interface ClusterFlags {
  readonly port?: string;
  readonly data?: string;
  readonly kubeconfig?: string;
}

/** Where the embedded cluster listens when nobody says; another free port is taken when it is in use. */
const usualPort = 16_443;

export interface StartedCluster {
  readonly cluster: Cluster;
  readonly kubeconfigFile: string;
}

/** Starts the embedded cluster and writes a kubeconfig for it. */
export async function startEmbedded(terminal: Terminal, flags: ClusterFlags): Promise<StartedCluster> {
  const port = portOf(flags.port);
  const dataDir = flags.data === undefined ? undefined : resolve(terminal.cwd, flags.data);
  if (dataDir !== undefined) await makeFolder(dataDir);
  const start = (at: number) =>
    startCluster({
      port: at,
      ...(dataDir === undefined ? {} : { dataDir }),
      controllers: 'workloads',
      clock: terminal.clock,
      random: terminal.random,
    });
  const cluster = await start(port ?? usualPort).catch(async (error: unknown) => {
    if (!isPortTaken(error)) throw storageProblem(error, dataDir);
    if (port === undefined) return await start(0);
    throw new CliError(`port ${port} is in use`, {
      hint: 'choose another with --port N; --port 0 takes any free one',
      cause: error,
    });
  });
  const kubeconfigFile = resolve(
    terminal.cwd,
    flags.kubeconfig ?? join(dataDir ?? defaultFolder(terminal), 'kubeconfig'),
  );
  try {
    await makeFolder(join(kubeconfigFile, '..'));
    await cluster.writeKubeconfig(kubeconfigFile);
  } catch (error) {
    await cluster.stop();
    throw error instanceof CliError
      ? error
      : new CliError(`cannot write ${kubeconfigFile}: ${reason(error)}`, {
          hint: 'choose another place with --kubeconfig FILE',
          cause: error,
        });
  }
  return { cluster, kubeconfigFile };
}

/** `slipway cluster`: the embedded API server alone, until Ctrl-C. */
export async function clusterCommand({ terminal }: CommandContext, flags: ClusterFlags): Promise<void> {
  const { cluster, kubeconfigFile } = await startEmbedded(terminal, flags);
  try {
    terminal.out(
      `cluster      ${styled(terminal, 'bold', cluster.url)}${flags.data === undefined ? '   (in memory; --data DIR keeps it)' : `   (kept in ${flags.data})`}\n`,
    );
    terminal.out(`use it with  export KUBECONFIG=${kubeconfigFile}\n`);
    terminal.out(`             kubectl get namespaces\n`);
    await aborted(terminal.signal);
  } finally {
    await cluster.stop();
  }
}

/** Resolves when the user wants to stop. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolvePromise) => {
    if (signal.aborted) resolvePromise();
    else signal.addEventListener('abort', () => resolvePromise(), { once: true });
  });
}

function defaultFolder(terminal: Terminal): string {
  return join(
    terminal.env['XDG_STATE_HOME'] ?? join(terminal.env['HOME'] ?? terminal.cwd, '.local', 'state'),
    'slipway',
  );
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new CliError(`--port must be a number from 0 to 65535, not '${text}'`, { exitCode: 2 });
  return port;
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw new CliError(`cannot write to ${path}: ${reason(error)}`, {
      hint: 'choose another folder with --data DIR',
      cause: error,
    });
  });
}

function isPortTaken(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'EADDRINUSE';
}

function storageProblem(error: unknown, dataDir: string | undefined): unknown {
  if (dataDir === undefined) return error;
  return new CliError(`cannot keep the cluster in ${dataDir}: ${reason(error)}`, {
    hint: 'is the disk full, read-only, or is another slipway using the folder?',
    cause: error,
  });
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.split('\n')[0]! : String(error);
}
