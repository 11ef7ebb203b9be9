import { readFile as readFileFromDisk } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

import type { Connection, Credentials, Impersonation, TlsSettings } from '../connection.ts';
import { systemClock, type Clock } from '../clock.ts';
import { parseProxyUrl } from '../transport/proxy.ts';
import { ConfigError, fileProblem, NoConfigError } from './config-error.ts';
import { execCredentials } from './exec-credentials.ts';
import {
  EntryReader,
  mergeKubeconfigs,
  parseKubeconfig,
  type Entry,
  type KubeconfigDocument,
} from './kubeconfig-document.ts';
import { proxyFromEnvironment } from './proxy-environment.ts';
import { ReloadingFile, type ReadFile } from './reloading-file.ts';
import { fixedCredentials, tokenFileCredentials } from './token-credentials.ts';

export interface KubeConfigOptions {
  /** A kubeconfig file, which must exist. Default: the files in `KUBECONFIG`, else `~/.kube/config`. */
  file?: string;
  /** Default: `current-context`. */
  context?: string;
  /** Instead of the context's. */
  cluster?: string;
  /** Instead of the context's. */
  user?: string;
  /** Instead of the context's. */
  namespace?: string;
  /** Act as somebody else. Default: what the user entry says (`as`). */
  impersonate?: Impersonation;
  /** Default `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Default: the file system. */
  readFile?: ReadFile;
  /** Default: the user's. */
  homeDirectory?: string;
  /** Default {@link systemClock}. */
  clock?: Clock;
  /** Whether an exec plugin may ask a person at the terminal. Default false. */
  interactive?: boolean;
  /** How long an exec plugin may run, in milliseconds. Default 60 000. */
  execTimeoutMs?: number;
}

/** A kubeconfig, read and merged. */
export interface KubeConfig {
  /** The files it was read from. */
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  /** Names of all contexts, sorted. */
  readonly contexts: readonly string[];
  /** How to reach the cluster of a context (default: the one asked for when loading, else the current one). Reads the files it names. */
  connection(context?: string): Promise<Connection>;
}

/** Reads kubeconfig files as kubectl does. */
export async function loadKubeConfig(options: KubeConfigOptions = {}): Promise<KubeConfig> {
  const env = options.env ?? process.env;
  const readFile = options.readFile ?? ((path: string) => readFileFromDisk(path, 'utf8'));
  const { paths, mustExist } = kubeconfigPaths(options, env);
  const documents: KubeconfigDocument[] = [];
  const files: string[] = [];
  for (const path of paths) {
    let text: string;
    try {
      text = await readFile(path);
    } catch (error) {
      if (!mustExist && isAbsent(error)) continue;
      throw new ConfigError(`the kubeconfig ${fileProblem(error)}`, { file: path, cause: error });
    }
    documents.push(parseKubeconfig(text, path));
    files.push(path);
  }
  if (files.length === 0) throw new NoConfigError(paths);
  const merged = mergeKubeconfigs(documents);
  const resolver = new ConnectionResolver(merged, files, { ...options, env, readFile });
  return {
    files,
    currentContext: merged.currentContext,
    contexts: [...merged.contexts.keys()].toSorted(),
    connection: (context) => resolver.connection(context ?? options.context ?? merged.currentContext),
  };
}

/** A home folder may be a file, such as `/dev/null`. */
function isAbsent(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function kubeconfigPaths(
  options: KubeConfigOptions,
  env: Readonly<Record<string, string | undefined>>,
): { paths: string[]; mustExist: boolean } {
  if (options.file) return { paths: [options.file], mustExist: true };
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return { paths: [...new Set(listed)], mustExist: false };
  return { paths: [join(options.homeDirectory ?? homedir(), '.kube', 'config')], mustExist: false };
}

type ResolverOptions = KubeConfigOptions & Required<Pick<KubeConfigOptions, 'env' | 'readFile'>>;

class ConnectionResolver {
  readonly #document: KubeconfigDocument;
  readonly #files: readonly string[];
  readonly #options: ResolverOptions;
  readonly #clock: Clock;

  constructor(document: KubeconfigDocument, files: readonly string[], options: ResolverOptions) {
    this.#document = document;
    this.#files = files;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async connection(contextName: string | undefined): Promise<Connection> {
    const options = this.#options;
    const context = this.#context(contextName);
    const clusterName = options.cluster ?? context?.reader.text('cluster');
    const userName = options.user ?? context?.reader.text('user');
    if (clusterName === undefined) {
      if (context) context.reader.fail('cluster', 'is missing');
      this.#fail('current-context', 'is not set; name a context');
    }
    const cluster = this.#entry('clusters', clusterName, context);
    const user = userName === undefined ? undefined : this.#entry('users', userName, context);
    const proxyUrl = this.#proxyUrl(cluster);
    const server = this.#server(cluster);
    return {
      server,
      tls: await this.#tls(cluster, user),
      credentials: user && (await this.#credentials(user, cluster, server)),
      impersonate: options.impersonate ?? (user && impersonation(user)),
      proxyUrl: proxyUrl ?? proxyFromEnvironment(new URL(server), options.env),
      namespace: options.namespace ?? context?.reader.text('namespace') ?? 'default',
      origin: `${this.#files.join(', ')}${contextName ? `, context "${contextName}"` : ''}`,
      context: contextName,
    };
  }

  #fail(field: string, problem: string): never {
    throw new ConfigError(problem, { file: this.#files.join(', '), field });
  }

  #context(name: string | undefined): { name: string; reader: EntryReader } | undefined {
    if (name === undefined) return undefined;
    const entry = this.#document.contexts.get(name);
    if (!entry) this.#fail('contexts', `there is no context "${name}"${choices(this.#document.contexts)}`);
    return { name, reader: new EntryReader(entry, name) };
  }

  #entry(
    list: 'clusters' | 'users',
    name: string,
    context: { name: string; reader: EntryReader } | undefined,
  ): EntryReader {
    const entry = this.#document[list].get(name);
    const what = list === 'clusters' ? 'cluster' : 'user';
    if (!entry) {
      const problem = `there is no ${what} "${name}"${choices(this.#document[list])}`;
      if (context?.reader.text(what) === name) context.reader.fail(what, problem);
      this.#fail(list, problem);
    }
    return new EntryReader(entry, context?.name);
  }

  #server(cluster: EntryReader): string {
    const server = cluster.text('server') ?? cluster.fail('server', 'is missing');
    // kubectl takes a host without a scheme, too.
    const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(server) ? server : `https://${server}`;
    if (!URL.canParse(withScheme)) cluster.fail('server', `"${server}" is not a URL`);
    const { protocol } = new URL(withScheme);
    if (protocol !== 'https:' && protocol !== 'http:') cluster.fail('server', `"${server}" is neither https nor http`);
    return withScheme;
  }

  #proxyUrl(cluster: EntryReader): string | undefined {
    const text = cluster.text('proxy-url');
    if (text === undefined) return undefined;
    try {
      parseProxyUrl(text);
    } catch (error) {
      cluster.fail('proxy-url', (error as Error).message.replace(/^proxy-url /, ''));
    }
    return text;
  }

  async #tls(cluster: EntryReader, user: EntryReader | undefined): Promise<TlsSettings> {
    const insecureSkipVerify = cluster.flag('insecure-skip-tls-verify');
    const ca = await this.#pem(cluster, 'certificate-authority', 'CERTIFICATE');
    if (ca && insecureSkipVerify)
      cluster.fail('insecure-skip-tls-verify', 'contradicts certificate-authority; remove one of them');
    const cert = user && (await this.#pem(user, 'client-certificate', 'CERTIFICATE'));
    const key = user && (await this.#pem(user, 'client-key', 'PRIVATE KEY'));
    if (cert && !key) user.fail('client-key', 'is missing beside client-certificate');
    if (key && !cert) user.fail('client-certificate', 'is missing beside client-key');
    return {
      ...(ca ? { ca } : {}),
      ...(cert && key
        ? {
            clientCertificate: async () => {
              const [certText, keyText] = await Promise.all([cert(), key()]);
              return { cert: certText, key: keyText };
            },
          }
        : {}),
      ...(cluster.text('tls-server-name') ? { serverName: cluster.text('tls-server-name') } : {}),
      insecureSkipVerify,
    };
  }

  /** PEM from `<field>-data` (base64) or from the file `<field>` names; checked now, and read again when it changes. */
  async #pem(reader: EntryReader, field: string, label: string): Promise<(() => Promise<string>) | undefined> {
    const inline = reader.data(`${field}-data`);
    if (inline !== undefined) {
      if (!isPem(inline, label)) reader.fail(`${field}-data`, `does not hold a PEM ${label.toLowerCase()}`);
      return () => Promise.resolve(inline);
    }
    const file = this.#file(reader, field);
    if (!file) return undefined;
    try {
      if (isPem(await file.content(), label)) return () => file.content();
    } catch (error) {
      reader.fail(field, `the file ${file.path} ${fileProblem(error)}`, error);
    }
    return reader.fail(field, `the file ${file.path} does not hold a PEM ${label.toLowerCase()}`);
  }

  #file(reader: EntryReader, field: string): ReloadingFile | undefined {
    const path = reader.text(field);
    if (path === undefined) return undefined;
    return new ReloadingFile(isAbsolute(path) ? path : join(reader.directory, path), {
      readFile: this.#options.readFile,
      clock: this.#clock,
    });
  }

  async #credentials(user: EntryReader, cluster: EntryReader, server: string): Promise<Credentials | undefined> {
    const tokenFile = this.#file(user, 'tokenFile');
    if (tokenFile) {
      try {
        if ((await tokenFile.content()).trim() !== '') return tokenFileCredentials(tokenFile);
      } catch (error) {
        // kubectl falls back to `token` when there is one.
        if (!user.text('token')) user.fail('tokenFile', `the file ${tokenFile.path} ${fileProblem(error)}`, error);
      }
      if (!user.text('token')) user.fail('tokenFile', `the file ${tokenFile.path} is empty`);
    }
    const token = user.text('token');
    if (token !== undefined) return fixedCredentials(`Bearer ${token.trim()}`);
    const username = user.text('username');
    if (username !== undefined) {
      const pair = `${username}:${user.text('password') ?? ''}`;
      return fixedCredentials(`Basic ${Buffer.from(pair).toString('base64')}`);
    }
    const exec = user.below('exec');
    if (exec) {
      return execCredentials(exec, await this.#clusterInfo(cluster, server), {
        clock: this.#clock,
        env: this.#options.env,
        interactive: this.#options.interactive ?? false,
        timeoutMs: this.#options.execTimeoutMs ?? 60_000,
      });
    }
    if (user.object('auth-provider'))
      user.fail('auth-provider', 'is no longer part of Kubernetes; use an exec credential plugin');
    return undefined;
  }

  /** What an exec plugin with `provideClusterInfo` is told. */
  async #clusterInfo(cluster: EntryReader, server: string): Promise<Record<string, unknown>> {
    const ca = await this.#pem(cluster, 'certificate-authority', 'CERTIFICATE');
    const extensions = cluster.value('extensions');
    const own = Array.isArray(extensions)
      ? (extensions as ({ name?: unknown; extension?: unknown } | null)[]).find(
          (candidate) => candidate?.name === 'client.authentication.k8s.io/exec',
        )
      : undefined;
    return {
      server,
      'tls-server-name': cluster.text('tls-server-name'),
      'insecure-skip-tls-verify': cluster.flag('insecure-skip-tls-verify') || undefined,
      'certificate-authority-data': ca && Buffer.from(await ca()).toString('base64'),
      'proxy-url': cluster.text('proxy-url'),
      'disable-compression': cluster.flag('disable-compression') || undefined,
      config: own?.extension,
    };
  }
}

function impersonation(user: EntryReader): Impersonation | undefined {
  const name = user.text('as');
  const groups = user.texts('as-groups');
  const extra = user.object('as-user-extra');
  if (name === undefined) {
    if (groups.length > 0 || extra || user.text('as-uid')) user.fail('as', 'is missing beside the other as- fields');
    return undefined;
  }
  for (const [key, values] of Object.entries(extra ?? {}))
    if (!Array.isArray(values)) user.fail(`as-user-extra.${key}`, 'must be a list of texts');
  return {
    user: name,
    ...(user.text('as-uid') ? { uid: user.text('as-uid') } : {}),
    groups,
    ...(extra ? { extra: extra as Record<string, string[]> } : {}),
  };
}

function isPem(text: string, label: string): boolean {
  return new RegExp(`-----BEGIN [A-Z ]*${label}-----`).test(text);
}

function choices(entries: ReadonlyMap<string, Entry>): string {
  return entries.size === 0 ? '; the file has none' : `; there are ${[...entries.keys()].toSorted().join(', ')}`;
}
