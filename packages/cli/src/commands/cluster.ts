import { readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { CommandError, exitCodes, styled, type Terminal } from '@slipway/kube';
import {
  AuthenticationConfigurationError,
  keepProcessLean,
  startCluster,
  StorageError,
  type Cluster,
} from '@slipway/apiserver';
import { catchUncaught, createLogger } from '@slipway/runtime';
import { parse } from 'yaml';

import { DiskNotice } from '../disk-notice.ts';
import { makeFolder, reason, writeForOwnerOnly } from '../make-folder.ts';
import { announceKubeconfig, kubeconfigPlace, usualPort } from '../running-clusters.ts';
import { aborted } from './aborted.ts';
import { slipwayCommand } from '../slipway-command.ts';

export interface ClusterFlags {
  /** Default false. */
  readonly rbac?: boolean;
  readonly 'authentication-config'?: string | undefined;
  readonly port: number | undefined;
  readonly data: string | undefined;
  readonly kubeconfig: string | undefined;
}

/** The flags of whoever starts an embedded cluster. */
export const clusterFlags = {
  port: {
    type: 'integer',
    value: 'number',
    least: 0,
    most: 65_535,
    summary: 'port of the API server (default: 16443, or a free one when that is taken)',
  },
  data: { type: 'string', value: 'dir', summary: 'keep the cluster here (default: in memory)' },
  // Not from a file: `kubeconfig: ~/.kube/config` there means the one to read, and this one is written.
  kubeconfig: { type: 'string', value: 'file', summary: 'where to write the kubeconfig', perCall: true },
} as const;

export interface StartedCluster {
  readonly cluster: Cluster;
  readonly kubeconfigFile: string;
  /** Says when changes cannot be kept, and when they are again. */
  readonly disk: DiskNotice;
  /** Aborts when something was thrown where nobody could catch it: time to end in order. */
  readonly uncaught: AbortSignal;
  stop(): Promise<void>;
}

/** Starts the embedded cluster and writes a kubeconfig for it. `say` prints a line when its disk is full. */
export async function startEmbedded(
  terminal: Terminal,
  flags: ClusterFlags,
  say: (line: string) => void,
): Promise<StartedCluster> {
  const dataDir = flags.data === undefined ? undefined : resolve(terminal.cwd, flags.data);
  if (dataDir !== undefined) await makeFolder(dataDir, 'choose another folder with --data DIR');
  const disk = new DiskNotice(flags.data ?? '', say);
  const cluster = await startCluster({
    port: await choosePort(flags.port),
    // Every program and every user of this machine reaches the port. Go's clients send a token over HTTPS only.
    tls: true,
    access: 'token',
    ...(dataDir === undefined ? {} : { dataDir }),
    ...authenticationFrom(terminal, flags),
    ...(flags.rbac ? { authorization: 'RBAC', tls: true } : {}),
    controllers: 'workloads',
    clock: terminal.clock,
    random: terminal.random,
    log: (_message, fields) => disk.failed(fields?.['error']),
  }).catch((error: unknown) => {
    if (!(error instanceof AuthenticationConfigurationError)) throw storageProblem(error, dataDir);
    const hint = 'correct the file, or start without --authentication-config';
    throw new CommandError(error.message, { hint, cause: error });
  });
  cluster.observe(() => disk.stored());
  try {
    const kubeconfigFile = await placeKubeconfig(terminal, cluster, flags, dataDir);
    // A kubeconfig in the usual place leads nowhere once its cluster is gone.
    const temporary = flags.kubeconfig === undefined && dataDir === undefined;
    const port = Number(new URL(cluster.url).port);
    const announced = temporary ? undefined : await announceKubeconfig(terminal, port, kubeconfigFile);
    const uncaught = new AbortController();
    const log = createLogger({ destination: { write: (line) => terminal.err(line) }, clock: terminal.clock });
    const forget = catchUncaught(log, (error) => uncaught.abort(error));
    return {
      cluster,
      kubeconfigFile,
      disk,
      uncaught: uncaught.signal,
      async stop() {
        await cluster.stop();
        forget();
        await announced?.[Symbol.asyncDispose]();
        if (temporary) await rm(kubeconfigFile, { force: true });
      },
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** `slipway cluster`: the embedded API server alone, until Ctrl-C. */
export const command = slipwayCommand({
  flags: {
    ...clusterFlags,
    rbac: {
      type: 'boolean',
      summary: 'roles decide who may do what, over HTTPS; default: who gets in may do everything',
    },
    'authentication-config': {
      type: 'string',
      value: 'file',
      summary: 'whose tokens are accepted: an AuthenticationConfiguration, read again when it changes',
    },
  },
  examples: [{ line: 'slipway cluster --port 0 --kubeconfig ./kubeconfig' }],
  run: ({ terminal, flags }) => serveCluster(terminal, flags),
});

async function serveCluster(terminal: Terminal, flags: ClusterFlags): Promise<void> {
  keepProcessLean();
  writeForOwnerOnly();
  const embedded = await startEmbedded(terminal, flags, (line) => terminal.err(`${line}\n`));
  const { cluster, kubeconfigFile } = embedded;
  try {
    terminal.out(
      `cluster      ${styled(terminal, 'bold', cluster.url)}${flags.data === undefined ? '   (in memory; --data DIR keeps it)' : `   (kept in ${flags.data})`}\n`,
    );
    terminal.out(`use it with  export KUBECONFIG=${kubeconfigFile}\n`);
    terminal.out(`             kubectl get namespaces\n`);
    await aborted(AbortSignal.any([terminal.signal, embedded.uncaught]));
    embedded.uncaught.throwIfAborted();
  } finally {
    await embedded.stop();
  }
}

function authenticationFrom(terminal: Terminal, { 'authentication-config': file }: ClusterFlags) {
  return file === undefined ? {} : { authenticationConfig: resolve(terminal.cwd, file) };
}

/** Where the user says, in the folder of the cluster, or in the usual place. */
async function placeKubeconfig(
  terminal: Terminal,
  cluster: Cluster,
  flags: ClusterFlags,
  dataDir: string | undefined,
): Promise<string> {
  const { port } = new URL(cluster.url);
  const place = dataDir === undefined ? kubeconfigPlace(terminal, Number(port)) : join(dataDir, 'kubeconfig');
  const file = resolve(terminal.cwd, flags.kubeconfig ?? place);
  if (flags.kubeconfig !== undefined) await refuseForeign(file);
  await makeFolder(dirname(file), 'choose another place with --kubeconfig FILE');
  await cluster.writeKubeconfig(file).catch((error: unknown) => {
    throw new CommandError(`cannot write ${file}: ${reason(error)}`, {
      hint: 'choose another place with --kubeconfig FILE',
      cause: error,
    });
  });
  return file;
}

/** Somebody's own kubeconfig must not be lost to a try-out. */
async function refuseForeign(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined || text.trim() === '' || isOurs(text)) return;
  throw new CommandError(`${file} exists and is not from slipway; it is left as it is`, {
    hint: 'name a file that may be written with --kubeconfig FILE',
    exitCode: exitCodes.usage,
  });
}

function isOurs(text: string): boolean {
  try {
    const { clusters } = parse(text) as { clusters?: { name?: unknown }[] };
    return clusters?.length === 1 && clusters[0]!.name === 'slipway';
  } catch {
    return false;
  }
}

/** Tried before the data are opened, so that a port in use costs nothing. */
async function choosePort(wanted: number | undefined): Promise<number> {
  const problem = await tryPort(wanted ?? usualPort);
  if (problem === undefined) return wanted ?? usualPort;
  if (wanted === undefined) return 0;
  throw new CommandError(
    problem.code === 'EADDRINUSE' ? `port ${wanted} is in use` : `port ${wanted}: ${reason(problem)}`,
    {
      hint: 'choose another with --port N; --port 0 takes any free one',
      cause: problem,
    },
  );
}

/** A port nobody listens on just now. */
export function freePort(): Promise<number> {
  return new Promise((resolvePromise, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolvePromise(port));
    });
  });
}

function tryPort(port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolvePromise) => {
    const server = createServer();
    server.once('error', resolvePromise);
    server.listen(port, '127.0.0.1', () => server.close(() => resolvePromise(undefined)));
  });
}

/** What went wrong with the folder of a cluster, for its user. */
export function storageProblem(error: unknown, dataDir: string | undefined): unknown {
  if (dataDir === undefined) return error;
  return new CommandError(`cannot keep the cluster in ${dataDir}: ${reason(error)}`, {
    hint: error instanceof StorageError ? error.hint : 'may this user read and write the folder?',
    cause: error,
  });
}
