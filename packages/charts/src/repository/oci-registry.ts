import { isRecord, type TlsSettings } from '@slipway/kube';

import { sha256, type ArchiveCache } from './archive-cache.ts';
import { basicAuthorization } from './basic-authorization.ts';
import { ContentDigest } from './content-digest.ts';
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
const mebibyte = 1024 * 1024;
/** Registries give a hundred to a thousand tags a page. */
const limits = { manifest: 4 * mebibyte, tagPages: 1000, tagBytes: 32 * mebibyte, token: 65_536 } as const;

export interface OciAccess {
  /** Who we are; asked when the registry does. */
  readonly credentials?: () => RepositoryCredentials | undefined | Promise<RepositoryCredentials | undefined>;
  readonly tls?: TlsSettings | undefined;
  /** Speak HTTP without TLS. Default false. */
  readonly plainHttp?: boolean;
}

/** What a manifest says about something else in the registry; nothing of it has to be there. */
type Descriptor = Readonly<Record<string, unknown>>;

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

  /** All tags, page after page. A listing that does not come to its end is an error: the newest version may be missing. */
  async tags(repository: string, signal?: AbortSignal): Promise<string[]> {
    const tags: string[] = [];
    const first = this.#url(`${repository}/tags/list`);
    const asked = new Set<string>();
    let room: number = limits.tagBytes;
    for (let url: URL | undefined = first; url;) {
      if (asked.has(url.href)) throw new RepositoryError('BadAnswer', `${shownUrl(first)} lists its pages in a circle`);
      if (asked.size === limits.tagPages)
        throw new RepositoryError('TooLarge', `${shownUrl(first)} has more than ${limits.tagPages} pages of tags`, {
          hint: 'name a version instead of a range',
        });
      asked.add(url.href);
      const answer: Download = await this.#get(url, repository, {}, signal, limits.tagBytes);
      expectOk(answer, `the tags of ${repository}`);
      room -= answer.body.length;
      if (room < 0)
        throw new RepositoryError('TooLarge', `${shownUrl(first)} lists more than ${limits.tagBytes} bytes of tags`, {
          hint: 'name a version instead of a range',
        });
      const { tags: some } = jsonOf(answer);
      // A repository without tags has null.
      if (some !== undefined && some !== null && !Array.isArray(some)) throw wrong(answer.url, 'tags that are no list');
      for (const tag of some ?? []) if (typeof tag === 'string') tags.push(tag);
      url = nextPage(answer, url);
    }
    return tags;
  }

  /** The archive of a chart, and the digest of the manifest that names it. */
  async pull(reference: OciReference, signal?: AbortSignal): Promise<{ archive: Buffer; digest: string }> {
    const { repository } = reference;
    const found = await this.#manifest(reference, reference.digest || reference.tag, signal);
    const { config, layers } = found.manifest;
    const shown = `oci://${this.#host}/${repository}`;
    const kind = isRecord(config) ? config['mediaType'] : undefined;
    if (kind !== configType)
      throw new RepositoryError('BadAnswer', `${shown} is no chart but ${shownType(kind) ?? 'something else'}`);
    // A provenance layer may lie beside it, and is left alone.
    const layer = descriptorsIn(found, 'layers', layers).find(
      ({ mediaType }) => typeof mediaType === 'string' && chartTypes.has(mediaType),
    );
    if (!layer) throw new RepositoryError('BadAnswer', `${shown} holds no chart`);
    return { archive: await this.#blob(repository, digestOf(found, layer), signal), digest: found.digest };
  }

  async #manifest(
    { repository }: OciReference,
    which: string,
    signal: AbortSignal | undefined,
    nested = false,
  ): Promise<Manifest> {
    const url = this.#url(`${repository}/manifests/${which}`);
    const answer = await this.#get(url, repository, { accept: manifestTypes.join(', ') }, signal, limits.manifest);
    expectOk(answer, `${repository}:${which}`);
    // A tag has no colon: what has one is a digest.
    const promised = ContentDigest.parse(which);
    const actual = promised?.of(answer.body);
    if (promised && promised.text !== actual) throw mismatch(shownUrl(answer.url), which, actual!);
    const manifest = jsonOf(answer);
    const found = { manifest, digest: `sha256:${sha256(answer.body)}`, url: answer.url };
    const { manifests } = manifest;
    if (manifests === undefined || manifests === null) return found;
    // An index of several things, of which one may be a chart.
    const charts = descriptorsIn(found, 'manifests', manifests).filter(
      ({ artifactType }) => artifactType === configType,
    );
    if (nested || charts.length !== 1)
      throw new RepositoryError('BadAnswer', `${shownUrl(answer.url)} lists ${charts.length} charts instead of one`);
    const { text } = digestOf(found, charts[0]!);
    return await this.#manifest({ host: this.#host, repository, tag: '', digest: '' }, text, signal, true);
  }

  async #blob(repository: string, digest: ContentDigest, signal: AbortSignal | undefined): Promise<Buffer> {
    const kept = await this.#cache.find(digest.sha256 ?? '');
    if (kept) return kept;
    const answer = await this.#get(this.#url(`${repository}/blobs/${digest.text}`), repository, {}, signal);
    expectOk(answer, `the archive of ${repository}`);
    const actual = digest.of(answer.body);
    if (actual !== digest.text) throw mismatch(shownUrl(answer.url), digest.text, actual);
    await this.#cache.keep(digest.sha256 ?? sha256(answer.body), answer.body);
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
    const { token, access_token: alternative } = jsonOf(answer);
    const given = typeof token === 'string' && token !== '' ? token : alternative;
    if (typeof given !== 'string') throw new RepositoryError('BadAnswer', `${shownUrl(url)} answered without a token`);
    // It becomes a header, in which neither line breaks nor a megabyte have a place.
    if (given.length > limits.token || !/^[\x21-\x7e]+$/.test(given))
      throw new RepositoryError('BadAnswer', `${shownUrl(url)} answered with a token that is none`);
    return `Bearer ${given}`;
  }
}

function jsonOf({ body, url }: Download): Record<string, unknown> {
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown;
    if (isRecord(value)) return value;
  } catch {
    // Said below, without the text: it may be anything.
  }
  throw new RepositoryError('BadAnswer', `${shownUrl(url)} answered something that is no JSON object`);
}

interface Manifest {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly digest: string;
  /** Where it came from, for errors. */
  readonly url: URL;
}

function descriptorsIn({ url }: Manifest, field: string, value: unknown): Descriptor[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isRecord)) throw wrong(url, `${field} that are no list of objects`);
  return value;
}

/** What has no digest we can check is not fetched. */
function digestOf({ url }: Manifest, { digest }: Descriptor): ContentDigest {
  const found = ContentDigest.parse(digest);
  if (!found)
    throw wrong(url, 'a digest that is neither sha256: nor sha512: with as many hexadecimal digits, in lower case');
  return found;
}

function wrong(url: URL, what: string): RepositoryError {
  return new RepositoryError('BadAnswer', `${shownUrl(url)} answered with ${what}`);
}

/** A media type, if it looks like one: it goes into a message. */
function shownType(kind: unknown): string | undefined {
  return typeof kind === 'string' && /^[\w.+/-]{1,200}$/.test(kind) ? kind : undefined;
}

/**
 * `link: </v2/…?last=…>; rel="next"`. One that leads to another server is not followed: it would get our credentials. One that
 * names this server with another scheme was written by a registry that does not know what stands before it.
 */
function nextPage({ headers }: Download, from: URL): URL | undefined {
  const link = headers['link'];
  const target = typeof link === 'string' ? /<([^<>]*)>\s*;\s*rel="?next"?/.exec(link)?.[1] : undefined;
  if (target === undefined) return undefined;
  const next = URL.canParse(target, from) ? new URL(target, from) : undefined;
  if (next?.host !== from.host) throw wrong(from, 'a next page of tags that is on another server');
  return new URL(`${next.pathname}${next.search}`, from.origin);
}

function mismatch(place: string, promised: string, actual: string): RepositoryError {
  return new RepositoryError('DigestMismatch', `${place} should have digest ${promised}, but has ${actual}`);
}
