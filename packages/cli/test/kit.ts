import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster, type Cluster, type ClusterOptions } from '@slipway/apiserver';
import { type Client, createClient, systemClock, systemRandom, type Terminal } from '@slipway/kube';
import { operandOperator } from '@slipway/operand';
import type { OperatorDescription } from '@slipway/runtime';

import { findCommands } from '../src/packages.ts';
import { runSlipway } from '../src/program.ts';

export interface CallOptions {
  /** Default: the Operand operator alone. */
  readonly operators?: readonly OperatorDescription[];
  /** Of the command. Default 9.9.9. */
  readonly version?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** What is piped into it. Default: nothing. */
  readonly input?: string;
  /** Default false: piped. */
  readonly interactive?: boolean;
  /** Default false. */
  readonly colours?: boolean;
  /** Default 120. */
  readonly columns?: number;
  /** Called with what is written, before the command goes on. Default: nobody listens. */
  readonly heard?: (text: string) => void;
}

const commands = await findCommands();

/** A folder that nobody, not even root, can make. */
const nowhere = '/dev/null/nowhere';

/** A terminal nobody looks at. */
export function terminalFor(options: CallOptions = {}): Terminal {
  return {
    out: () => undefined,
    err: () => undefined,
    readInput: async () => options.input ?? '',
    interactive: options.interactive ?? false,
    colours: options.colours ?? false,
    columns: () => options.columns ?? 120,
    rows: () => 40,
    env: { HOME: nowhere, ...options.env },
    cwd: options.cwd ?? '/nonexistent',
    clock: systemClock,
    random: systemRandom,
    signal: new AbortController().signal,
  };
}

/** One call of the command, at work or done. */
export class Call {
  out = '';
  err = '';
  /** The exit code, once it has ended. */
  readonly code: Promise<number>;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  #ended = false;

  constructor(argv: readonly string[], options: CallOptions = {}) {
    const terminal: Terminal = {
      ...terminalFor(options),
      out: (text) => {
        this.#wrote('out', text);
        options.heard?.(text);
      },
      err: (text) => this.#wrote('err', text),
      signal: this.#stop.signal,
    };
    const { operators = [operandOperator], version = '9.9.9' } = options;
    this.code = runSlipway(argv, { terminal, version, commands, operators: async () => operators }).finally(() => {
      this.#ended = true;
      for (const look of this.#waiting) look();
    });
  }

  /** Ctrl-C. */
  stop(): Promise<number> {
    this.#stop.abort();
    return this.code;
  }

  /** Resolves when the output matches; fails when the command ends without. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.out + this.err);
        if (!match && !this.#ended) return;
        this.#waiting.delete(look);
        if (match) resolve(match);
        else reject(new Error(`ended without ${pattern}:\n${this.out}${this.err}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  #wrote(where: 'out' | 'err', text: string): void {
    this[where] += text;
    for (const look of this.#waiting) look();
  }
}

/** Calls the command and waits for its end. */
export async function call(
  argv: readonly string[],
  options?: CallOptions,
): Promise<{ code: number; out: string; err: string }> {
  const running = new Call(argv, options);
  return { code: await running.code, out: running.out, err: running.err };
}

/** A folder that goes with the test. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'slipway-cli-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** What somebody else than its owner could read: the folder, and everything under it. */
export async function readableByOthers(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const found = await Promise.all(
    [folder, ...names.map((name) => join(folder, name))].map(async (path) => {
      const stats = await lstat(path);
      return stats.isSymbolicLink() || (stats.mode & 0o077) === 0
        ? []
        : [`${(stats.mode & 0o777).toString(8)} ${path}`];
    }),
  );
  return found.flat();
}

export interface ServedCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  /** Its kubeconfig. */
  readonly kubeconfig: string;
  readonly folder: string;
  /** A file in the test's folder. */
  file(name: string, text: string): Promise<string>;
}

/** An embedded cluster behind a real socket, as a user's cluster is. */
export async function servedCluster(options: Partial<ClusterOptions> = {}): Promise<ServedCluster> {
  const folder = await temporaryFolder();
  const cluster = await startCluster({ port: 0, controllers: 'workloads', ...options });
  const kubeconfig = join(folder.path, 'kubeconfig');
  await cluster.writeKubeconfig(kubeconfig);
  return {
    cluster,
    client: createClient({ transport: cluster.transport, fieldManager: 'test', clock: systemClock }),
    kubeconfig,
    folder: folder.path,
    async file(name, text) {
      await writeFile(join(folder.path, name), text);
      return join(folder.path, name);
    },
    async [Symbol.asyncDispose]() {
      await cluster.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The kubeconfig of somebody with two contexts, `c` and `other`, who is nobody without a token. */
export function kubeconfigFor(server: string, token?: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: token === undefined ? {} : { token } }],
    contexts: ['c', 'other'].map((name) => ({ name, context: { cluster: 'c', user: 'u' } })),
    'current-context': 'c',
  });
}

/** Of a cluster on which {@link stranger} comes in. */
export const strangersOnly = {
  authorization: 'RBAC' as const,
  tokens: [{ token: 'stranger', user: 'stranger' }],
};

/** The kubeconfig of somebody who may ask who he is, and nothing else. */
export async function stranger(served: ServedCluster): Promise<string> {
  return await served.file('stranger', kubeconfigFor(served.cluster.url, 'stranger'));
}
