import { createHash } from 'node:crypto';
import {
  type Cache,
  type Client,
  type Clock,
  connect,
  createClient,
  loadKubeConfig,
  type Transport,
  undiciTransport,
} from '@slipway/kube';
import { parse } from 'yaml';

/** A control plane somebody holds a kubeconfig for. */
export interface Target {
  readonly client: Client;
  /** Address of its API server. */
  readonly server: string;
  /** Its certificate authority, PEM; absent when the system's are trusted. */
  readonly certificateAuthority?: string;
  /** How to watch it. Default: it is only looked at. */
  readonly watching?: TargetWatching;
}

/** What a cache of a control plane needs. */
export interface TargetWatching {
  /** Connections of its own, for whoever opens them to close: they last longer than those of a request. */
  openTransport(): Transport;
  /** A client whose writes the cache is told of. */
  clientFor(cache: Pick<Cache, 'wrote' | 'status'>): Client;
}

/** Whether two ways in lead to the same address and trust the same authority. */
export function sameServer(a: Target, b: Target): boolean {
  return a.server === b.server && a.certificateAuthority === b.certificateAuthority;
}

/** Gets at a control plane. Injected, so that a test can count and break it. */
export type ConnectTarget = (kubeconfig: string) => Promise<Target>;

export interface TargetOptions {
  readonly clock?: Clock;
  /** How long a request may take, in milliseconds: a target that does not answer must not hold a worker for long. Default 10 000. */
  readonly requestTimeoutMs?: number;
  /** How many connections are kept. Default 1000. */
  readonly kept?: number;
}

/**
 * Connections to control planes, one for each kubeconfig, the least used closed first. Targets come and go at run time; one that does not
 * answer fails its own requests and nobody else's.
 */
export class Targets implements AsyncDisposable {
  readonly #open = new Map<string, Promise<Target & { close(): Promise<void> }>>();
  readonly #options: TargetOptions;

  constructor(options: TargetOptions = {}) {
    this.#options = options;
  }

  readonly connect: ConnectTarget = async (kubeconfig) => {
    const key = createHash('sha256').update(kubeconfig).digest('hex');
    const known = this.#open.get(key);
    const target = known ?? openTarget(kubeconfig, this.#options);
    // The most recently used is last.
    this.#open.delete(key);
    this.#open.set(key, target);
    target.catch(() => this.#open.delete(key));
    this.#shrink();
    return await target;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(all.map(async (target) => await (await target).close()));
  }

  #shrink(): void {
    const { kept = 1000 } = this.#options;
    for (const [key, target] of this.#open) {
      if (this.#open.size <= kept) return;
      this.#open.delete(key);
      void target.then(
        async (opened) => await opened.close(),
        () => undefined,
      );
    }
  }
}

async function openTarget(kubeconfig: string, options: TargetOptions): Promise<Target & { close(): Promise<void> }> {
  const { clock, requestTimeoutMs = 10_000 } = options;
  refuseLocalCredentials(kubeconfig);
  const readFile = async (path: string): Promise<string> => {
    if (path === textFile) return kubeconfig;
    throw new KubeconfigError(`it names the file ${path}; it must hold its credentials itself`);
  };
  const config = await loadKubeConfig({ file: textFile, readFile, env: {}, clock });
  const connection = await config.connection();
  const { ca } = connection.tls ?? {};
  const fieldManager = 'control-plane';
  const cluster = connect(connection, { clock, requestTimeoutMs, fieldManager });
  return {
    client: cluster.client,
    watching: {
      openTransport: () => undiciTransport(connection, { clock }),
      clientFor: (cache) => createClient({ transport: cluster.transport, fieldManager, clock, cache }),
    },
    server: connection.server,
    certificateAuthority: typeof ca === 'function' ? await ca() : ca,
    close: async () => await cluster.close(),
  };
}

const textFile = 'kubeconfig';

/** A kubeconfig of a control plane that cannot be used as it is. */
export class KubeconfigError extends Error {
  constructor(problem: string) {
    super(`the kubeconfig of the control plane cannot be used: ${problem}`);
    this.name = 'KubeconfigError';
  }
}

/** A kubeconfig somebody handed in must not run programs of this machine. */
function refuseLocalCredentials(kubeconfig: string): void {
  let document: unknown;
  try {
    document = parse(kubeconfig);
  } catch {
    // The parser quotes the line it stumbled over, which may be a token.
    throw new KubeconfigError('it is not YAML');
  }
  const users = (document as { users?: { user?: Record<string, unknown> | null }[] } | null)?.users;
  if (!Array.isArray(users)) throw new KubeconfigError('it has no users');
  for (const { user } of users) {
    if (user && 'exec' in user)
      throw new KubeconfigError('its user runs a program (exec), which is not done here; use a token or a certificate');
  }
}
