import { askHelper } from './credential-helper.ts';
import { parsedFile, readOptional } from './user-file.ts';

/** A user of a repository or a registry. */
export interface RepositoryCredentials {
  readonly username: string;
  readonly password: string;
}

/** Who we are to a registry, by `host` or `host:port`. A `Map` will do. */
export interface RegistryCredentials {
  get(host: string): RepositoryCredentials | undefined | Promise<RepositoryCredentials | undefined>;
}

interface DockerConfig {
  readonly auths: ReadonlyMap<string, RepositoryCredentials>;
  /** By host: which program knows the credentials. */
  readonly helpers: ReadonlyMap<string, string>;
  /** The program that knows those of all other hosts. */
  readonly store: string | undefined;
}

/**
 * Credentials in files of Docker's format, the first file first. A host with a helper of its own is asked for there, else in
 * the store, else in `auths`, as Docker and Helm do it. Files are read, and programs run, when a registry asks who we are.
 */
export class DockerCredentials implements RegistryCredentials {
  readonly #files: readonly string[];
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #found = new Map<string, Promise<RepositoryCredentials | undefined>>();
  #configs: Promise<DockerConfig[]> | undefined;

  constructor(files: readonly string[], env: Readonly<Record<string, string | undefined>>) {
    this.#files = files;
    this.#env = env;
  }

  get(host: string): Promise<RepositoryCredentials | undefined> {
    let found = this.#found.get(host);
    if (!found) this.#found.set(host, (found = this.#find(host)));
    return found;
  }

  async #find(asked: string): Promise<RepositoryCredentials | undefined> {
    const host = hostOf(asked);
    this.#configs ??= Promise.all(this.#files.map(readConfig));
    for (const { auths, helpers, store } of await this.#configs) {
      const helper = helpers.get(host) ?? store;
      const found = helper === undefined ? auths.get(host) : await askHelper(helper, serverAddress(host), this.#env);
      if (found) return found;
    }
    return undefined;
  }
}

async function readConfig(path: string): Promise<DockerConfig> {
  const text = await readOptional(path);
  const document = text === undefined ? {} : record(parsedFile(path, () => JSON.parse(text) as unknown));
  const auths = Object.entries(record(document['auths'])).flatMap(([host, entry]) => {
    const credentials = credentialsIn(record(entry));
    return credentials ? [[hostOf(host), credentials] as const] : [];
  });
  const helpers = Object.entries(record(document['credHelpers'])).flatMap(([host, helper]) =>
    typeof helper === 'string' ? [[hostOf(host), helper] as const] : [],
  );
  const store = document['credsStore'];
  return {
    auths: new Map(auths),
    helpers: new Map(helpers),
    store: typeof store === 'string' && store !== '' ? store : undefined,
  };
}

function credentialsIn(entry: Readonly<Record<string, unknown>>): RepositoryCredentials | undefined {
  const { auth, username, password } = entry;
  if (typeof username === 'string' && typeof password === 'string') return { username, password };
  if (typeof auth !== 'string' || auth === '') return undefined;
  const decoded = Buffer.from(auth, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** Docker's own registry is known by another address than the one it is reached at. */
const dockerHub = { address: 'https://index.docker.io/v1/', hosts: ['index.docker.io', 'docker.io'] };
const dockerHubHost = 'registry-1.docker.io';

/** Docker writes `https://host/v1/` for some. */
function hostOf(key: string): string {
  const host = key.replace(/^https?:\/\//, '').split('/', 1)[0]!;
  return dockerHub.hosts.includes(host) ? dockerHubHost : host;
}

/** What stores know a registry by. */
function serverAddress(host: string): string {
  return host === dockerHubHost ? dockerHub.address : host;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
