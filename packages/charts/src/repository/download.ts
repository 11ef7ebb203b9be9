import { proxyFromEnvironment, undiciTransport, type TlsSettings, type Transport } from '@slipway/kube';

import { archiveLimits } from '../chart/chart-room.ts';
import { RepositoryError } from './repository-error.ts';

export interface DownloadRequest {
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent to the host that was asked, and to no other it leads to. */
  readonly authorization?: string | undefined;
  /** Longest answer. Default: that of an archive. */
  readonly maxBytes?: number;
  readonly tls?: TlsSettings | undefined;
}

export interface Download {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
  /** Where it came from in the end. */
  readonly url: URL;
  /** The host our credentials are for, when a redirect led to another, which did not get them. */
  readonly withheldFor?: string;
}

/** Makes the way to a server: `https://host:port`. */
export type OpenServer = (server: URL, tls: TlsSettings | undefined) => Transport;

const mostRedirects = 10;

/** What a user sees of an address: neither user nor query, which may carry secrets. */
export function shownUrl(url: URL): string {
  // In `mailto:` and the like everything is the path.
  if (!url.href.startsWith(`${url.protocol}//`)) return `${url.protocol}…`;
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** Gets things from web servers: one connection pool a server, redirects followed, sizes bounded. */
export class Downloads implements AsyncDisposable {
  readonly #open: OpenServer;
  readonly #transports = new Map<string, Transport>();

  constructor(open: OpenServer) {
    this.#open = open;
  }

  async get(url: URL, request: DownloadRequest = {}, signal?: AbortSignal): Promise<Download> {
    let at = checked(url);
    let { authorization } = request;
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      const answer = await this.#send(at, { ...request, authorization }, signal);
      const next = redirectOf(answer, at);
      if (!next) {
        const withheld = authorization === undefined && request.authorization !== undefined;
        return { ...answer, url: at, ...(withheld ? { withheldFor: url.host } : {}) };
      }
      // For good: whoever leads back to the first host may lead to any address there.
      if (!isSamePlace(at, next)) authorization = undefined;
      at = checked(next);
    }
    throw new RepositoryError('BadAnswer', `${shownUrl(url)} leads on and on (more than ${mostRedirects} redirects)`);
  }

  async #send(
    url: URL,
    { headers, authorization, tls, maxBytes = archiveLimits.total }: DownloadRequest,
    signal: AbortSignal | undefined,
  ): Promise<Omit<Download, 'url'>> {
    const sent = { ...headers, ...(authorization !== undefined ? { authorization } : {}) };
    const path = `${url.pathname}${url.search}`;
    let answer;
    try {
      answer = await this.#transport(url, tls).send({ method: 'GET', path, headers: sent }, signal);
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new RepositoryError('Unreachable', `${shownUrl(url)} does not answer: ${(cause as Error).message}`, {
        cause,
      });
    }
    if (answer.body.length > maxBytes)
      throw new RepositoryError('TooLarge', `${shownUrl(url)} answers with more than ${maxBytes} bytes`);
    return answer;
  }

  #transport(url: URL, tls: TlsSettings | undefined): Transport {
    const key = JSON.stringify([url.origin, tls]);
    let transport = this.#transports.get(key);
    if (!transport) this.#transports.set(key, (transport = this.#open(new URL(url.origin), tls)));
    return transport;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#transports.values()].map(async (transport) => await transport.close()));
    this.#transports.clear();
  }
}

/** Real servers, through the proxy the environment names. */
export function openServers(env: Readonly<Record<string, string | undefined>>): OpenServer {
  return (server, tls) => {
    const proxyUrl = proxyFromEnvironment(server, env);
    return undiciTransport(
      { server: server.origin, ...(tls ? { tls } : {}), ...(proxyUrl === undefined ? {} : { proxyUrl }) },
      { maxConnections: 4, maxAnswerBytes: archiveLimits.total, requestTimeoutMs: 300_000 },
    );
  };
}

function checked(url: URL): URL {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new RepositoryError('InvalidReference', `${shownUrl(url)} is neither https:// nor http://`);
  if (url.username !== '' || url.password !== '')
    throw new RepositoryError('Refused', `the address ${shownUrl(url)} carries a user or a password`, {
      hint: "addresses end up in logs: keep credentials in Helm's repositories.yaml or registry configuration",
    });
  return url;
}

function redirectOf({ status, headers }: Omit<Download, 'url'>, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  const location = headers['location'];
  const next = typeof location === 'string' && URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (!next) throw new RepositoryError('BadAnswer', `${shownUrl(from)} leads nowhere (${status} without a location)`);
  return next;
}

/** Whether credentials for one address may go to the other: the same server, be it by the way from HTTP to HTTPS. */
function isSamePlace(from: URL, to: URL): boolean {
  return from.origin === to.origin || (isPlain(from) && to.origin === `https://${from.hostname}`);
}

/** HTTP at the port everybody means. */
function isPlain(url: URL): boolean {
  return url.protocol === 'http:' && url.port === '';
}

/** Says no to an answer that is not 200. */
export function expectOk({ status, url, withheldFor }: Download, what: string): void {
  if (status === 200) return;
  const where = `${what} at ${shownUrl(url)}`;
  if (status === 401 || status === 403) {
    const hint = `the credentials for ${withheldFor} do not follow its redirect: name ${url.host} itself`;
    const options = withheldFor === undefined ? {} : { hint };
    throw new RepositoryError('Unauthorized', `${where}: the server refuses us (${status})`, options);
  }
  if (status === 404) throw new RepositoryError('NotFound', `${where}: there is none (404)`);
  throw new RepositoryError('BadAnswer', `${where}: the server answered ${status}`);
}
