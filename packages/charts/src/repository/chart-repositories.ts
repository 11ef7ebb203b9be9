import type { TlsSettings } from '@slipway/kube';

import type { Chart } from '../chart/chart.ts';
import { loadChart } from '../chart/load.ts';
import { ArchiveCache, isDigest, sha256 } from './archive-cache.ts';
import { basicAuthorization } from './basic-authorization.ts';
import { Downloads, expectOk, openServers, shownUrl, type OpenServer } from './download.ts';
import type { RepositoryCredentials } from './docker-credentials.ts';
import { readHelmConfig, type ConfiguredRepository, type HelmConfig } from './helm-config.ts';
import { IndexFile } from './index-file.ts';
import { isOci, parseOciReference, versionOfTag } from './oci-reference.ts';
import { OciRegistry } from './oci-registry.ts';
import { RepositoryError } from './repository-error.ts';
import { shownAddress } from './shown-address.ts';

/** A chart somewhere else. */
export interface ChartReference {
  /** `oci://host/path/name`, `https://host/name-1.0.0.tgz`, `repository/name`, or a name in `repository`. */
  readonly chart: string;
  /** A version or a range. Default: the newest that is no pre-release. */
  readonly version?: string | undefined;
  /** The address of a repository, or its configured name behind an `@`. */
  readonly repository?: string | undefined;
}

/** A chart that was fetched. Its bytes are those the repository promised. */
export interface PulledChart {
  readonly archive: Buffer;
  /** What to call the file. */
  readonly fileName: string;
  /** As the repository names it. */
  readonly version: string;
  /** `sha256:…` of the archive, or of its manifest in a registry. */
  readonly digest: string;
}

/** Where charts that are not on this machine come from. */
export interface ChartSource {
  pull(reference: ChartReference, signal?: AbortSignal): Promise<PulledChart>;
  /** The version a range comes to, without fetching the chart. */
  resolve(reference: ChartReference, signal?: AbortSignal): Promise<string>;
}

/** Which servers there are, and how to speak to them. */
export interface RepositoryOptions {
  /** Repositories, registries and cache; {@link readHelmConfig} reads Helm's own files. */
  readonly config: HelmConfig;
  /** Default: real servers, directly. */
  readonly open?: OpenServer;
  /** Speak HTTP without TLS to registries. Default false. */
  readonly plainHttp?: boolean;
  /** For servers no configuration names. */
  readonly tls?: TlsSettings;
  /** For servers the configuration has none for: that of the repository, archive or registry that was named. */
  readonly credentials?: RepositoryCredentials;
  /** Send `credentials` to whatever host the index names. Default false. */
  readonly trustOthers?: boolean;
}

/** Repositories and registries as Helm's configuration has them, or as they are named by their address. */
export class ChartRepositories implements ChartSource, AsyncDisposable {
  readonly #options: RepositoryOptions;
  readonly #downloads: Downloads;
  readonly #cache: ArchiveCache;
  readonly #indexes = new Map<string, Promise<IndexFile>>();
  readonly #registries = new Map<string, OciRegistry>();

  constructor(options: RepositoryOptions) {
    this.#options = options;
    this.#downloads = new Downloads(options.open ?? openServers({}));
    this.#cache = new ArchiveCache(options.config.cacheFolder);
  }

  /**
   * With the configuration of this user, through the proxy their environment names.
   *
   * @param options with `repositories` that count before those of the configuration, such as those of a helmfile
   */
  static async open(
    env: Readonly<Record<string, string | undefined>>,
    {
      repositories = [],
      ...options
    }: Omit<RepositoryOptions, 'config'> & { readonly repositories?: readonly ConfiguredRepository[] } = {},
  ): Promise<ChartRepositories> {
    const found = await readHelmConfig(env);
    const config = { ...found, repositories: [...repositories, ...found.repositories] };
    return new ChartRepositories({ open: openServers(env), ...options, config });
  }

  /** Fetches a chart and reads it. */
  async load(reference: ChartReference, signal?: AbortSignal): Promise<Chart> {
    return await loadChart((await this.pull(reference, signal)).archive);
  }

  async pull(reference: ChartReference, signal?: AbortSignal): Promise<PulledChart> {
    const place = this.#placeOf(reference);
    if (place.type === 'oci') return await this.#pullOci(place, signal);
    if (place.type === 'archive') return await this.#pullArchive(place.url, '', place.repository, signal);
    const index = await this.#index(place.repository, signal);
    const entry = index.find(place.name, place.version);
    const [first] = entry.urls;
    if (first === undefined) throw new RepositoryError('NotFound', `${place.name} ${entry.version} has no address`);
    // An index may point into a registry.
    if (isOci(first)) {
      const ledTo = !place.repository.trustOthers;
      return await this.#pullOci({ type: 'oci', url: first, version: entry.version, ledTo }, signal);
    }
    const pulled = await this.#pullArchive(
      absolute(first, place.repository.url),
      entry.digest,
      place.repository,
      signal,
    );
    return { ...pulled, version: entry.version };
  }

  async resolve(reference: ChartReference, signal?: AbortSignal): Promise<string> {
    const place = this.#placeOf(reference);
    if (place.type === 'archive') return '';
    if (place.type === 'repository')
      return (await this.#index(place.repository, signal)).find(place.name, place.version).version;
    const { host, repository, tag } = parseOciReference(place.url);
    return versionOfTag(tag || (await this.#registry(host, place).resolveTag(repository, place.version, signal)));
  }

  /** The configured repository of this name or address. */
  repository(nameOrUrl: string): ConfiguredRepository | undefined {
    const { repositories } = this.#options.config;
    const name = /^(?:@|alias:)(.+)$/.exec(nameOrUrl)?.[1];
    return name === undefined
      ? repositories.find(({ url }) => withoutSlash(url) === withoutSlash(nameOrUrl))
      : repositories.find((each) => each.name === name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#downloads[Symbol.asyncDispose]();
  }

  #placeOf({ chart, version = '', repository = '' }: ChartReference): Place {
    if (repository !== '') {
      const found = this.repository(repository);
      if (!found && /^(?:@|alias:)/.test(repository)) throw unknown(repository);
      return placeIn(found ?? this.#unnamed(repository), chart, version);
    }
    if (isOci(chart)) return { type: 'oci', url: chart, version };
    if (/^https?:\/\//.test(chart)) {
      const owner = this.#options.config.repositories.find(({ url }) => chart.startsWith(`${withoutSlash(url)}/`));
      return { type: 'archive', url: toUrl(chart), repository: owner ?? this.#unnamed(chart) };
    }
    const slash = chart.indexOf('/');
    if (slash < 1 || slash === chart.length - 1)
      throw new RepositoryError(
        'InvalidReference',
        `there is no chart "${shownAddress(chart)}" here, and it names no repository`,
      );
    const name = chart.slice(0, slash);
    const owner = this.#options.config.repositories.find((each) => each.name === name);
    if (!owner) throw unknown(name);
    return placeIn(owner, chart.slice(slash + 1), version);
  }

  /** What the configuration knows nothing about. */
  #unnamed(url: string): ConfiguredRepository {
    return { name: '', url, trustOthers: this.#options.trustOthers ?? false };
  }

  async #pullOci(place: OciPlace, signal: AbortSignal | undefined): Promise<PulledChart> {
    const reference = parseOciReference(place.url);
    const registry = this.#registry(reference.host, place);
    const pinned = reference.tag !== '' || reference.digest !== '';
    const tag = pinned ? reference.tag : await registry.resolveTag(reference.repository, place.version, signal);
    const { archive, digest } = await registry.pull({ ...reference, tag }, signal);
    const name = reference.repository.slice(reference.repository.lastIndexOf('/') + 1);
    const version = versionOfTag(tag);
    const wanted = place.version;
    if (reference.tag !== '' && wanted !== '' && wanted !== version)
      throw new RepositoryError(
        'InvalidReference',
        `${shownAddress(place.url)} names another version than --version ${wanted}`,
      );
    return { archive, digest, version, fileName: `${name}-${version || digest.slice('sha256:'.length)}.tgz` };
  }

  async #pullArchive(
    url: URL,
    promised: string,
    repository: ConfiguredRepository,
    signal: AbortSignal | undefined,
  ): Promise<PulledChart> {
    const found = await this.#archive(url, promised, repository, signal);
    return { archive: found, version: '', digest: `sha256:${sha256(found)}`, fileName: fileName(url) };
  }

  async #archive(
    url: URL,
    promised: string,
    repository: ConfiguredRepository,
    signal: AbortSignal | undefined,
  ): Promise<Buffer> {
    const kept = await this.#cache.find(promised);
    if (kept) return kept;
    const answer = await this.#downloads.get(
      url,
      {
        headers: { accept: 'application/gzip,application/octet-stream' },
        ...this.#accessTo(url, repository),
      },
      signal,
    );
    expectOk(answer, 'the archive');
    const actual = sha256(answer.body);
    if (promised !== '' && promised !== actual)
      throw new RepositoryError(
        'DigestMismatch',
        isDigest(promised)
          ? `${shownUrl(url)} should have digest ${promised}, but has ${actual}`
          : `${shownUrl(url)}: the digest in the index is no SHA-256`,
      );
    await this.#cache.keep(actual, answer.body);
    return answer.body;
  }

  async #index(repository: ConfiguredRepository, signal: AbortSignal | undefined): Promise<IndexFile> {
    let index = this.#indexes.get(repository.url);
    if (!index) {
      index = this.#readIndex(repository, signal);
      this.#indexes.set(repository.url, index);
      index.catch(() => this.#indexes.delete(repository.url));
    }
    return await index;
  }

  async #readIndex(repository: ConfiguredRepository, signal: AbortSignal | undefined): Promise<IndexFile> {
    const url = absolute('index.yaml', repository.url);
    const answer = await this.#downloads.get(url, this.#accessTo(url, repository), signal);
    expectOk(answer, 'the index');
    return IndexFile.read(answer.body, shownUrl(url));
  }

  /** Credentials go to the repository's own host, to others only when its owner said so. */
  #accessTo(url: URL, repository: ConfiguredRepository) {
    const { credentials = this.#options.credentials, trustOthers, tls = this.#options.tls } = repository;
    const own = toUrl(repository.url).origin === url.origin;
    return {
      authorization: credentials && (own || trustOthers) ? basicAuthorization(credentials) : undefined,
      tls: own ? tls : this.#options.tls,
    };
  }

  #registry(host: string, { access, ledTo = false }: OciPlace): OciRegistry {
    const key = JSON.stringify([host, ledTo]);
    let registry = this.#registries.get(key);
    if (!registry) {
      const { config, plainHttp = false, tls } = this.#options;
      const given = ledTo ? undefined : this.#options.credentials;
      registry = new OciRegistry(
        host,
        {
          credentials: () => access?.credentials ?? given ?? config.registries.get(host),
          plainHttp: access?.plainHttp ?? plainHttp,
          tls: access?.tls ?? tls,
        },
        this.#downloads,
        this.#cache,
      );
      this.#registries.set(key, registry);
    }
    return registry;
  }
}

interface OciPlace {
  readonly type: 'oci';
  readonly url: string;
  readonly version: string;
  /** What the configuration says about the repository that stands for this registry. */
  readonly access?: ConfiguredRepository;
  /** The index of another server led here: credentials that were given for that one are not for this one. */
  readonly ledTo?: boolean;
}

type Place =
  | OciPlace
  | { readonly type: 'archive'; readonly url: URL; readonly repository: ConfiguredRepository }
  | {
      readonly type: 'repository';
      readonly repository: ConfiguredRepository;
      readonly name: string;
      readonly version: string;
    };

function placeIn(repository: ConfiguredRepository, name: string, version: string): Place {
  if (isOci(repository.url))
    return { type: 'oci', url: `${withoutSlash(repository.url)}/${name}`, version, access: repository };
  return { type: 'repository', repository, name, version };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function toUrl(text: string): URL {
  if (!URL.canParse(text)) throw new RepositoryError('InvalidReference', `"${shownAddress(text)}" is no address`);
  return new URL(text);
}

/** An address in a repository. The query of the repository's own goes with it: some carry a token there. */
function absolute(path: string, repository: string): URL {
  const base = toUrl(repository);
  const { search } = base;
  base.search = '';
  base.pathname = `${withoutSlash(base.pathname)}/`;
  if (!URL.canParse(path, base)) throw new RepositoryError('BadAnswer', `"${shownAddress(path)}" is no address`);
  const url = new URL(path, base);
  if (url.origin === base.origin && url.search === '') url.search = search;
  return url;
}

/** The last part of an address, when it is fit to be the name of a file. */
function fileName(url: URL): string {
  const last = url.pathname.slice(url.pathname.lastIndexOf('/') + 1).replaceAll('%2B', '+');
  return /^[\w+-][\w.+-]*$/.test(last) ? last : 'chart.tgz';
}

function unknown(name: string): RepositoryError {
  const shown = shownAddress(name.replace(/^@|^alias:/, ''));
  return new RepositoryError('UnknownRepository', `no repository "${shown}" is configured`);
}
