import type { TlsSettings } from '@slipway/kube';

import { sha256, type ArchiveCache } from './archive-cache.ts';
import { basicAuthorization } from './basic-authorization.ts';
import { expectOk, shownUrl, type Download, type Downloads } from './download.ts';
import type { RepositoryCredentials } from './docker-credentials.ts';
import { tagOf, versionOfTag, type OciReference } from './oci-reference.ts';
import { RepositoryError } from './repository-error.ts';
import { challengesIn, type Challenge } from './www-authenticate.ts';
import { choose, isVersion, newestFirst } from './version-choice.ts';

const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
];
const configType = 'application/vnd.cncf.helm.config.v1+json';
/** The first is what Helm writes since 3.7, the second what it wrote before. */
const chartTypes = new Set(['application/vnd.cncf.helm.chart.content.v1.tar+gzip', 'application/tar+gzip']);
const limits = { manifest: 4 * 1024 * 1024, tagPages: 100 } as const;

export interface OciAccess {
  /** Who we are; asked when the registry does. */
  readonly credentials?: () => RepositoryCredentials | undefined | Promise<RepositoryCredentials | undefined>;
  readonly tls?: TlsSettings | undefined;
  /** Speak HTTP without TLS. Default false. */
  readonly plainHttp?: boolean;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType?: string;
}

/** Charts in a registry: the part of the OCI distribution protocol that reads. */
export class OciRegistry {
  readonly #downloads: Downloads;
  readonly #cache: ArchiveCache;
  readonly #access: OciAccess;
  readonly #host: string;
  /** By scope: what to send. */
  readonly #authorizations = new Map<string, string>();

  constructor(host: string, access: OciAccess, downloads: Downloads, cache: ArchiveCache) {
    this.#host = host;
    this.#access = access;
    this.#downloads = downloads;
    this.#cache = cache;
  }

  /** The version that satisfies `wanted`, as a tag. A version, unlike a range, is taken at its word, without asking. */
  async resolveTag(repository: string, wanted: string, signal?: AbortSignal): Promise<string> {
    if (isVersion(wanted)) return tagOf(wanted);
    const versions = newestFirst((await this.tags(repository, signal)).map(versionOfTag), (version) => version);
    const chosen = choose(versions, (version) => version, wanted);
    if (chosen === undefined)
      throw new RepositoryError(
        'NotFound',
        `oci://${this.#host}/${repository} has no version that satisfies "${wanted || '*'}"`,
      );
    return tagOf(chosen);
  }

  /** All tags, page after page. */
  async tags(repository: string, signal?: AbortSignal): Promise<string[]> {
    const tags: string[] = [];
    let url: URL | undefined = this.#url(`${repository}/tags/list`);
    for (let page = 0; url && page < limits.tagPages; page += 1) {
      const answer: Download = await this.#get(url, repository, {}, signal);
      expectOk(answer, `the tags of ${repository}`);
      const { tags: some } = jsonOf(answer) as { tags?: unknown };
      tags.push(...(Array.isArray(some) ? some.filter((tag) => typeof tag === 'string') : []));
      url = nextPage(answer, url);
    }
    return tags;
  }

  /** The archive of a chart, and the digest of the manifest that names it. */
  async pull(reference: OciReference, signal?: AbortSignal): Promise<{ archive: Buffer; digest: string }> {
    const { repository } = reference;
    const found = await this.#manifest(reference, reference.digest || reference.tag, signal);
    const { config, layers } = found.manifest as { config?: Descriptor; layers?: readonly Descriptor[] };
    const shown = `oci://${this.#host}/${repository}`;
    if (config?.mediaType !== configType)
      throw new RepositoryError('BadAnswer', `${shown} is no chart but ${config?.mediaType ?? 'something else'}`);
    // A provenance layer may lie beside it, and is left alone.
    const layer = layers?.find(({ mediaType }) => chartTypes.has(mediaType));
    if (!layer) throw new RepositoryError('BadAnswer', `${shown} holds no chart`);
    return { archive: await this.#blob(repository, layer, signal), digest: found.digest };
  }

  async #manifest(
    { repository }: OciReference,
    which: string,
    signal: AbortSignal | undefined,
    nested = false,
  ): Promise<{ manifest: Record<string, unknown>; digest: string }> {
    const url = this.#url(`${repository}/manifests/${which}`);
    const answer = await this.#get(url, repository, { accept: manifestTypes.join(', ') }, signal, limits.manifest);
    expectOk(answer, `${repository}:${which}`);
    const digest = `sha256:${sha256(answer.body)}`;
    if (which.startsWith('sha256:') && which !== digest) throw mismatch(shownUrl(answer.url), which, digest);
    const manifest = jsonOf(answer);
    const { manifests } = manifest as { manifests?: readonly Descriptor[] };
    if (!Array.isArray(manifests)) return { manifest, digest };
    // An index of several things, of which one may be a chart.
    const charts = manifests.filter(({ artifactType }) => artifactType === configType);
    if (nested || charts.length !== 1)
      throw new RepositoryError('BadAnswer', `${shownUrl(answer.url)} lists ${charts.length} charts instead of one`);
    return await this.#manifest({ host: this.#host, repository, tag: '', digest: '' }, charts[0]!.digest, signal, true);
  }

  async #blob(repository: string, { digest }: Descriptor, signal: AbortSignal | undefined): Promise<Buffer> {
    const hash = digest.replace(/^sha256:/, '');
    const kept = await this.#cache.find(hash);
    if (kept) return kept;
    const answer = await this.#get(this.#url(`${repository}/blobs/${digest}`), repository, {}, signal);
    expectOk(answer, `the archive of ${repository}`);
    const actual = sha256(answer.body);
    if (actual !== hash) throw mismatch(shownUrl(answer.url), digest, `sha256:${actual}`);
    await this.#cache.keep(hash, answer.body);
    return answer.body;
  }

  #url(path: string): URL {
    return new URL(`${this.#access.plainHttp ? 'http' : 'https'}://${this.#host}/v2/${path}`);
  }

  /** Asks; when the registry wants to know who we are, tells it in the way it names, once. */
  async #get(
    url: URL,
    repository: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
    maxBytes?: number,
  ): Promise<Download> {
    const scope = `repository:${repository}:pull`;
    const ask = async () =>
      await this.#downloads.get(
        url,
        {
          headers,
          authorization: this.#authorizations.get(scope),
          tls: this.#access.tls,
          ...(maxBytes === undefined ? {} : { maxBytes }),
        },
        signal,
      );
    const answer = await ask();
    if (answer.status !== 401 || answer.url.origin !== url.origin) return answer;
    const authorization = await this.#answerTo(challengesIn(answer.headers['www-authenticate']), scope, signal);
    if (authorization === undefined) return answer;
    this.#authorizations.set(scope, authorization);
    return await ask();
  }

  async #answerTo(
    challenges: readonly Challenge[],
    scope: string,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const credentials = await this.#access.credentials?.();
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    if (bearer) return await this.#token(bearer, scope, credentials, signal);
    const basic = challenges.some(({ scheme }) => scheme === 'basic');
    return basic && credentials ? basicAuthorization(credentials) : undefined;
  }

  /** The token service gets the credentials, the registry the token. */
  async #token(
    { parameters }: Challenge,
    scope: string,
    credentials: RepositoryCredentials | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const realm = parameters.get('realm') ?? '';
    if (!URL.canParse(realm))
      throw new RepositoryError('BadAnswer', `${this.#host} names no place to get a token from`);
    const url = new URL(realm);
    const { plainHttp = false, tls } = this.#access;
    if (credentials && url.protocol !== 'https:' && !plainHttp)
      throw new RepositoryError('Refused', `${this.#host} wants the password sent to ${shownUrl(url)} in the clear`, {
        hint: 'do not use this registry',
      });
    const service = parameters.get('service');
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', parameters.get('scope') ?? scope);
    const answer = await this.#downloads.get(
      url,
      {
        authorization: credentials && basicAuthorization(credentials),
        tls: url.host === this.#host ? tls : undefined,
        maxBytes: limits.manifest,
      },
      signal,
    );
    expectOk(answer, `a token for ${this.#host}`);
    const { token, access_token: alternative } = jsonOf(answer) as { token?: unknown; access_token?: unknown };
    const given = typeof token === 'string' && token !== '' ? token : alternative;
    if (typeof given !== 'string') throw new RepositoryError('BadAnswer', `${shownUrl(url)} answered without a token`);
    return `Bearer ${given}`;
  }
}

function jsonOf({ body, url }: Download): Record<string, unknown> {
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown;
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below, without the text: it may be anything.
  }
  throw new RepositoryError('BadAnswer', `${shownUrl(url)} answered something that is no JSON object`);
}

/** `link: </v2/…?last=…>; rel="next"`. One that leads to another server is not followed: it would get our credentials. */
function nextPage({ headers }: Download, from: URL): URL | undefined {
  const link = headers['link'];
  const target = typeof link === 'string' ? /<([^>]*)>\s*;\s*rel="?next"?/.exec(link)?.[1] : undefined;
  if (target === undefined || !URL.canParse(target, from)) return undefined;
  const next = new URL(target, from);
  return next.origin === from.origin ? next : undefined;
}

function mismatch(place: string, promised: string, actual: string): RepositoryError {
  return new RepositoryError('DigestMismatch', `${place} should have digest ${promised}, but has ${actual}`);
}
