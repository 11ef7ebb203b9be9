import { homedir } from 'node:os';
import { join } from 'node:path';
import type { TlsSettings } from '@slipway/kube';

import { isMap, type GoMap, type Value } from '../go/values.ts';
import { readYaml } from '../yaml/read.ts';
import { DockerCredentials, type RegistryCredentials, type RepositoryCredentials } from './docker-credentials.ts';
import { parsedFile, readOptional } from './user-file.ts';
import { tlsSettings } from './tls-settings.ts';

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
  readonly registries: RegistryCredentials;
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
    registries: new DockerCredentials([own, join(docker, 'config.json')], env),
    cacheFolder: join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'slipway', 'charts'),
  };
}

async function readRepositories(path: string): Promise<ConfiguredRepository[]> {
  const text = await readOptional(path);
  if (text === undefined) return [];
  const document = parsedFile(path, () => readYaml(text));
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

function textOf(value: Value): string {
  return typeof value === 'string' ? value : '';
}
