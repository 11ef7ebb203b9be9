import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { TlsSettings } from '@slipway/kube';

import { isMap, type GoMap, type Value } from '../go/values.ts';
import { readYaml } from '../yaml/read.ts';
import { RepositoryError } from './repository-error.ts';
import { tlsSettings } from './tls-settings.ts';

export interface RepositoryCredentials {
  readonly username: string;
  readonly password: string;
}

/** A repository somebody gave a name, with `helm repo add`. */
export interface ConfiguredRepository {
  readonly name: string;
  readonly url: string;
  readonly credentials?: RepositoryCredentials;
  /** Send the credentials to whatever host the index names. */
  readonly trustOthers: boolean;
  readonly tls?: TlsSettings;
  /** A registry: `oci://host/path`, without an index. */
  readonly plainHttp?: boolean;
}

/** What Helm knows about repositories and registries, read from its own files. */
export interface HelmConfig {
  readonly repositories: readonly ConfiguredRepository[];
  /** By `host` or `host:port`. */
  readonly registries: ReadonlyMap<string, RepositoryCredentials>;
  /** Where archives are kept. */
  readonly cacheFolder: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `repositories.yaml` and the registry configuration from where Helm keeps them. Files that are not there say nothing. */
export async function readHelmConfig(env: Environment): Promise<HelmConfig> {
  const home = env['HOME'] || homedir();
  const config = env['HELM_CONFIG_HOME'] || join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'helm');
  const docker = env['DOCKER_CONFIG'] || join(home, '.docker');
  const own = env['HELM_REGISTRY_CONFIG'] || join(config, 'registry', 'config.json');
  return {
    repositories: await readRepositories(env['HELM_REPOSITORY_CONFIG'] || join(config, 'repositories.yaml')),
    registries: new Map([...(await readRegistries(join(docker, 'config.json'))), ...(await readRegistries(own))]),
    cacheFolder: join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'slipway', 'charts'),
  };
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new RepositoryError('Refused', `cannot read ${path}: ${code}`, { cause: error });
  }
}

async function readRepositories(path: string): Promise<ConfiguredRepository[]> {
  const text = await readOptional(path);
  if (text === undefined) return [];
  const document = parsed(path, () => readYaml(text));
  const entries = isMap(document) ? document.get('repositories') : undefined;
  if (!Array.isArray(entries)) return [];
  return await Promise.all(entries.filter(isMap).map(readRepository));
}

async function readRepository(entry: GoMap): Promise<ConfiguredRepository> {
  const field = (key: string) => textOf(entry.get(key));
  const tls = await readTls(entry);
  return {
    name: field('name'),
    url: field('url'),
    trustOthers: entry.get('pass_credentials_all') === true,
    ...(field('username') === '' && field('password') === ''
      ? {}
      : { credentials: { username: field('username'), password: field('password') } }),
    ...(tls ? { tls } : {}),
  };
}

async function readTls(entry: GoMap): Promise<TlsSettings | undefined> {
  const file = async (key: string) => {
    const path = textOf(entry.get(key));
    return path === '' ? undefined : await readOptional(path);
  };
  const [ca, cert, key] = await Promise.all([file('caFile'), file('certFile'), file('keyFile')]);
  const insecureSkipVerify = entry.get('insecure_skip_tls_verify') === true;
  return tlsSettings({ ca, cert, key, insecureSkipVerify });
}

/** `auths` of a file in Docker's format. Credential helpers are programs, and none is run. */
async function readRegistries(path: string): Promise<[string, RepositoryCredentials][]> {
  const text = await readOptional(path);
  if (text === undefined) return [];
  const document = parsed(path, () => JSON.parse(text) as unknown);
  const auths = record(record(document)['auths']);
  return Object.entries(auths).flatMap(([host, entry]) => {
    const credentials = credentialsIn(record(entry));
    return credentials ? [[hostOf(host), credentials] as [string, RepositoryCredentials]] : [];
  });
}

function credentialsIn(entry: Readonly<Record<string, unknown>>): RepositoryCredentials | undefined {
  const { auth, username, password } = entry;
  if (typeof username === 'string' && typeof password === 'string') return { username, password };
  if (typeof auth !== 'string' || auth === '') return undefined;
  const decoded = Buffer.from(auth, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** Docker writes `https://host/v1/` for some. */
function hostOf(key: string): string {
  return key.replace(/^https?:\/\//, '').split('/', 1)[0]!;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: Value): string {
  return typeof value === 'string' ? value : '';
}

/** The text is not part of the error: these files hold passwords. */
function parsed<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new RepositoryError('Refused', `${path} cannot be read: it is neither YAML nor JSON`, {
      hint: 'correct the file, or make it again with helm',
    });
  }
}
