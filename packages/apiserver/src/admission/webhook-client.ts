import { parseExactly } from '../big-integer.ts';
import type { RequestOptions } from 'node:https';
import type { Clock } from '../clock.ts';
import { nodeHttp, nodeHttps } from '../http/node-http.ts';

/** Where a webhook lives: `clientConfig` of admission and conversion webhooks. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** PEM in base64. */
  readonly caBundle?: string;
}

/** Where the pods behind a Service really listen; simulated clusters have no network of their own. */
export type ServiceResolver = (
  namespace: string,
  name: string,
  port: number,
) => { readonly host: string; readonly port: number } | undefined;

export interface WebhookClientOptions {
  readonly clock: Clock;
  /** Default: no service can be reached. */
  readonly resolveService?: ServiceResolver;
  /** Default `kube-apiserver-admission`. */
  readonly userAgent?: string;
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Posts JSON to webhooks; failures are told in the words Go would use. */
export class WebhookClient {
  readonly #options: WebhookClientOptions;

  constructor(options: WebhookClientOptions) {
    this.#options = options;
  }

  /** The parsed answer. Throws an `Error` with Go's text. */
  async post(config: WebhookClientConfig, body: unknown, timeoutMs: number): Promise<unknown> {
    const { shown, host, port, servername } = this.#target(config);
    const url = new URL(shown);
    url.pathname = cleanPath(url.pathname);
    url.searchParams.set('timeout', `${timeoutMs / 1_000}s`);
    const address = url.toString();
    const { status, text } = await this.#send(url, { host, port, servername, config, body, timeoutMs }).catch(
      (error: unknown) => {
        throw new Error(`Post ${JSON.stringify(address)}: ${goNetworkError(error, host, port)}`);
      },
    );
    if (status < 200 || status > 299) {
      throw new Error(goStatusError(status, text));
    }
    try {
      return parseExactly(text);
    } catch {
      const kind = `couldn't get version/kind; json parse error: invalid character in ${JSON.stringify(text.slice(0, 64))}`;
      throw new Error(kind);
    }
  }

  #target(config: WebhookClientConfig): { shown: string; host: string; port: number; servername?: string } {
    if (config.service) {
      const { namespace, name, path = '/', port = 443 } = config.service;
      const shown = `https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? path : `/${path}`}`;
      const found = this.#options.resolveService?.(namespace, name, port);
      if (!found) {
        throw new Error(`Post ${JSON.stringify(shown)}: service ${JSON.stringify(name)} not found`);
      }
      return { shown, ...found, servername: `${name}.${namespace}.svc` };
    }
    const url = new URL(config.url ?? '');
    const port = Number(url.port) || (url.protocol === 'http:' ? 80 : 443);
    return { shown: url.toString(), host: url.hostname.replace(/^\[|\]$/g, ''), port };
  }

  #send(
    url: URL,
    to: {
      host: string;
      port: number;
      servername?: string;
      config: WebhookClientConfig;
      body: unknown;
      timeoutMs: number;
    },
  ): Promise<{ status: number; text: string }> {
    const payload = Buffer.from(JSON.stringify(to.body));
    const isSecure = url.protocol !== 'http:';
    const options: RequestOptions = {
      host: to.host,
      port: to.port,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        host: url.host,
        accept: 'application/json, */*',
        'content-type': 'application/json',
        'content-length': payload.length,
        'user-agent': this.#options.userAgent ?? 'kube-apiserver-admission',
      },
      // As in Go, a certificate in the bundle is trusted for itself, whether or not it may sign others.
      ...(isSecure && to.config.caBundle
        ? { ca: Buffer.from(to.config.caBundle, 'base64'), allowPartialTrustChain: true }
        : {}),
      ...(isSecure && to.servername ? { servername: to.servername } : {}),
      agent: false,
    };
    return new Promise((resolve, reject) => {
      const request = (isSecure ? nodeHttps() : nodeHttp()).request(options, (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES) {
            request.destroy(new Error('the answer is too large'));
          } else {
            chunks.push(chunk);
          }
        });
        response.on('end', () => {
          timer.cancel();
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
        });
        response.on('error', fail);
      });
      const fail = (error: Error) => {
        timer.cancel();
        reject(error);
      };
      const timer = this.#options.clock.schedule(to.timeoutMs, () => {
        request.destroy(new Error('context deadline exceeded'));
      });
      request.on('error', fail);
      request.end(payload);
    });
  }
}

/** Go joins the path of a webhook to that of its server, which leaves one slash where envtest writes two. */
function cleanPath(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
}

function goNetworkError(error: unknown, host: string, port: number): string {
  const { code, message } = error as { code?: string; message: string };
  const shown = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${shown}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${host}: no such host`;
    case 'EHOSTUNREACH':
      return `dial tcp ${shown}: connect: no route to host`;
    case 'ECONNRESET':
      return 'EOF';
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `tls: failed to verify certificate: x509: certificate is not valid for ${host}`;
    case 'CERT_HAS_EXPIRED':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid';
    default:
      return message;
  }
}

function goStatusError(status: number, text: string): string {
  const shown = JSON.stringify(text.trim().slice(0, 2_048));
  if (status === 404) {
    return 'the server could not find the requested resource';
  }
  if (status === 401) {
    return 'the server has asked for the client to provide credentials';
  }
  if (status === 403) {
    return 'forbidden';
  }
  if (status === 503) {
    return 'the server is currently unable to handle the request';
  }
  if (status >= 500) {
    return `an error on the server (${shown}) has prevented the request from succeeding`;
  }
  return `the server rejected our request for an unknown reason (${shown})`;
}
