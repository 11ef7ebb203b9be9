import { gunzip } from 'node:zlib';

import { Pool, type Dispatcher } from 'undici';

import { abortable } from '../abortable.ts';
import type { ClientCertificate, Connection, Credential } from '../connection.ts';
import { systemClock, type Clock } from '../clock.ts';
import { KubeError } from '../kube-error.ts';
import { timeLimit, type TimeLimit } from '../time-limit.ts';
import {
  maxAnswerBytes,
  type Stream,
  type StreamHandler,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '../transport.ts';
import { connectorFor } from './connector.ts';
import { impersonationHeaders } from './impersonation.ts';
import { askedProxy, proxyAuthorization } from './proxy.ts';
import { InputError } from '../input-error.ts';

export interface UndiciTransportOptions {
  /** Default {@link systemClock}. */
  clock?: Clock;
  /** How long `send` waits for the whole answer, in milliseconds. Default 70 000: ten seconds more than API servers allow themselves. */
  requestTimeoutMs?: number;
  /** How long `open` waits for the first byte of the answer, in milliseconds. Default 30 000. A body that goes on has no limit. */
  headersTimeoutMs?: number;
  /** Default 10 000. */
  connectTimeoutMs?: number;
  /** Connections for requests. Default 64; more requests wait for a free one. */
  maxConnections?: number;
  /** Ask for gzip in answers to `send`: fewer bytes, more CPU at both ends. Default false. */
  compression?: boolean;
  /** Longest answer to `send`, unpacked; a longer one is an error. Default {@link maxAnswerBytes}. */
  maxAnswerBytes?: number;
  /** Sent as `user-agent`. Default `slipway`. */
  userAgent?: string;
}

/**
 * A transport over HTTP/1.1 with two pools: one for requests, one whose connections each carry a watch, so that no request
 * waits behind a stream. Make a second transport for what must never wait at all (a leader's lease).
 */
export function undiciTransport(connection: Connection, options: UndiciTransportOptions = {}): Transport {
  return new UndiciTransport(connection, options);
}

type PoolName = 'requests' | 'streams';

interface Pools {
  requests: Pool;
  streams: Pool;
  certificate: ClientCertificate | undefined;
}

/** What came of one dispatch, told through callbacks so that streams stay synchronous from socket to handler. */
interface Exchange {
  head(status: number, headers: Record<string, string | string[]>): void;
  data(chunk: Buffer): void;
  end(): void;
  error(error: Error): void;
}

/** A request that was sent. */
type OpenExchange = Required<Stream>;

class UndiciTransport implements Transport {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #options: UndiciTransportOptions;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #impersonation: Record<string, string | string[]>;
  /** The proxy that is told the whole address with each request. */
  readonly #proxy: URL | undefined;
  #pools: Pools | undefined;
  readonly #retired = new Set<Pool>();
  readonly #underWay = new Set<(error: Error) => void>();
  #closed = false;

  constructor(connection: Connection, options: UndiciTransportOptions) {
    let url: URL;
    try {
      url = new URL(connection.server);
    } catch {
      throw new InputError('Address', `server "${connection.server}" is not a URL${from(connection)}`);
    }
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new InputError(
        'Address',
        `server "${connection.server}" is neither https:// nor http://${from(connection)}`,
      );
    this.#connection = connection;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#impersonation = impersonationHeaders(connection.impersonate);
    this.#proxy = askedProxy(connection.server, connection.proxyUrl);
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    const credential = await this.#credential(signal);
    const response = await this.#sendOnce(request, credential, signal);
    if (response.status !== 401 || !this.#connection.credentials) return response;
    if (!(await this.#connection.credentials.refused(credential))) return response;
    return this.#sendOnce(request, await this.#credential(signal), signal);
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    let stop: (() => void) | undefined;
    let exchange: OpenExchange | undefined;
    let aborted = false;
    const fail = (error: unknown) => {
      if (aborted) return;
      aborted = true;
      handler.error(error instanceof Error ? error : new Error(String(error)));
    };
    const start = (credential: Credential, mayRetry: boolean) => {
      let refused = false;
      const limit = this.#timeLimit(request, this.#options.headersTimeoutMs ?? 30_000);
      limit.signal.addEventListener('abort', () => {
        stop?.();
        fail(limit.signal.reason);
      });
      const current = this.#exchange('streams', request, credential, {
        head: (status, headers) => {
          limit[Symbol.dispose]();
          if (status === 401 && mayRetry) refused = true;
          else handler.head(status, headers);
        },
        data: (chunk) => {
          if (!refused) handler.data(chunk);
        },
        end: () => {
          if (!refused) handler.end();
          else void retry(credential);
        },
        error: (error) => {
          limit[Symbol.dispose]();
          handler.error(error);
        },
      });
      exchange = current;
      stop = () => {
        limit[Symbol.dispose]();
        current.abort();
      };
    };
    const begin = async (): Promise<void> => {
      try {
        const credential = await this.#credential();
        if (!aborted) start(credential, this.#connection.credentials !== undefined);
      } catch (error) {
        fail(error);
      }
    };
    const retry = async (refused: Credential): Promise<void> => {
      try {
        await this.#connection.credentials?.refused(refused);
        const credential = await this.#credential();
        if (!aborted) start(credential, false);
      } catch (error) {
        fail(error);
      }
    };
    void begin();
    return {
      abort: () => {
        aborted = true;
        stop?.();
      },
      pause: () => exchange?.pause(),
      resume: () => exchange?.resume(),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const reason = new KubeError('the transport has been closed', { reason: 'ConnectionFailed' });
    for (const fail of this.#underWay) fail(reason);
    const pools = [...this.#retired];
    if (this.#pools) pools.push(this.#pools.requests, this.#pools.streams);
    this.#retired.clear();
    this.#pools = undefined;
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  async #credential(signal?: AbortSignal): Promise<Credential> {
    signal?.throwIfAborted();
    const { credentials } = this.#connection;
    return credentials ? abortable(credentials.current(signal), signal) : {};
  }

  #sendOnce(request: TransportRequest, credential: Credential, signal?: AbortSignal): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const chunks: Buffer[] = [];
      const maxBytes = this.#options.maxAnswerBytes ?? maxAnswerBytes;
      const tooLong = (): KubeError =>
        new KubeError(`the answer to ${request.method} is longer than ${maxBytes} bytes`, { reason: 'BadAnswer' });
      let size = 0;
      let status = 0;
      let headers: Record<string, string | string[]> = {};
      const limit = this.#timeLimit(request, this.#options.requestTimeoutMs ?? 70_000, signal);
      // The caller's signal may live as long as the process: it gets one listener per request, and loses it here.
      const settle = (outcome: () => void) => {
        limit[Symbol.dispose]();
        outcome();
      };
      limit.signal.addEventListener('abort', () => {
        exchange.abort();
        settle(() => reject(limit.signal.reason));
      });
      const exchange = this.#exchange('requests', request, credential, {
        head: (s, h) => {
          status = s;
          headers = h;
        },
        data: (chunk) => {
          size += chunk.length;
          if (size <= maxBytes) chunks.push(chunk);
          else {
            exchange.abort();
            settle(() => reject(tooLong()));
          }
        },
        end: () =>
          settle(() => {
            const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
            if (headers['content-encoding'] !== 'gzip') resolve({ status, headers, body });
            else
              gunzip(body, { maxOutputLength: maxBytes }, (error, plain) => {
                if (!error) resolve({ status, headers, body: plain });
                else reject((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? tooLong() : error);
              });
          }),
        error: (error) => settle(() => reject(error)),
      });
    });
  }

  #timeLimit({ method }: TransportRequest, limitMs: number, signal?: AbortSignal): TimeLimit {
    const message = `${this.#origin} did not answer ${method} within ${limitMs / 1000} s`;
    const error = () => new KubeError(message, { reason: 'RequestTimeout' });
    return timeLimit(this.#clock, limitMs, signal ? { signal, error } : { error });
  }

  /** Sends one request. After an abort, and after `end` or `error`, no callback comes. */
  #exchange(name: PoolName, request: TransportRequest, credential: Credential, exchange: Exchange): OpenExchange {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    const settle = () => {
      settled = true;
      this.#underWay.delete(fail);
    };
    const fail = (error: Error) => {
      if (settled) return;
      settle();
      controller?.abort(error);
      exchange.error(error);
    };
    if (this.#closed) {
      queueMicrotask(() => fail(new KubeError('the transport has been closed', { reason: 'ConnectionFailed' })));
      const nothing = () => {};
      return { abort: settle, pause: nothing, resume: nothing };
    }
    this.#underWay.add(fail);
    const pool = this.#pool(name, credential);
    pool.dispatch(
      {
        origin: this.#origin,
        path: `${this.#proxy ? this.#origin : ''}${this.#basePath}${request.path}`,
        method: request.method,
        headers: this.#headers(request, credential, name),
        body: request.body === undefined ? null : request.body,
        // Otherwise the connection is closed behind every DELETE with a body.
        reset: false,
      },
      {
        onRequestStart: (started) => {
          controller = started;
          if (settled) {
            started.abort(new Error('aborted'));
            return;
          }
          try {
            request.beforeSend?.();
          } catch (error) {
            fail(error instanceof Error ? error : new Error(String(error)));
          }
        },
        onResponseStart: (_controller, status, headers) => {
          // An informational answer (1xx) is not the answer.
          if (!settled && status >= 200) exchange.head(status, headers as Record<string, string | string[]>);
        },
        onResponseData: (_controller, chunk) => {
          if (!settled) exchange.data(chunk);
        },
        onResponseEnd: () => {
          if (settled) return;
          settle();
          exchange.end();
        },
        onResponseError: (_controller, error) => fail(this.#describe(error)),
      },
    );
    return {
      abort() {
        if (settled) return;
        settle();
        controller?.abort(new Error('aborted'));
      },
      pause: () => controller?.pause(),
      resume() {
        if (!settled) controller?.resume();
      },
    };
  }

  #headers(request: TransportRequest, credential: Credential, name: PoolName): Record<string, string | string[]> {
    const headers: Record<string, string | string[]> = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent ?? 'slipway',
      ...request.headers,
      ...(this.#proxy ? proxyAuthorization(this.#proxy) : {}),
      // A request that names its user means this one, and none of the groups of the other.
      ...(request.headers?.['impersonate-user'] === undefined ? this.#impersonation : {}),
    };
    if (credential.authorization) headers['authorization'] = credential.authorization;
    if (this.#options.compression && name === 'requests') headers['accept-encoding'] = 'gzip';
    return headers;
  }

  #pool(name: PoolName, credential: Credential): Pool {
    const current = this.#pools;
    if (current && sameCertificate(current.certificate, credential.clientCertificate)) return current[name];
    if (current) {
      // A connection speaks for the certificate it was opened with; new credentials need new connections.
      for (const pool of [current.requests, current.streams]) {
        this.#retired.add(pool);
        void pool.close().finally(() => this.#retired.delete(pool));
      }
    }
    const connect = connectorFor(this.#connection, {
      certificate: credential.clientCertificate,
      timeoutMs: this.#options.connectTimeoutMs ?? 10_000,
    });
    // Limits on the answer are ours, on the injected clock; undici's own would end quiet watches.
    const shared = {
      connect,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
      keepAliveTimeout: 30_000,
    };
    this.#pools = {
      requests: new Pool(this.#origin, { ...shared, connections: this.#options.maxConnections ?? 64 }),
      streams: new Pool(this.#origin, shared),
      certificate: credential.clientCertificate,
    };
    return this.#pools[name];
  }

  #describe(error: Error): Error {
    if (error instanceof KubeError) return error;
    const code = (error as { code?: string }).code;
    // Node adds advice about its own command-line flags, which is not what is wrong here.
    const text = error.message.split('; if the root CA')[0] || code || error.name;
    return new KubeError(`no answer from ${this.#origin}${from(this.#connection)}: ${text}${hint(code)}`, {
      reason: code === 'UND_ERR_CONNECT_TIMEOUT' ? 'RequestTimeout' : 'ConnectionFailed',
      cause: error,
    });
  }
}

function from(connection: Connection): string {
  return connection.origin ? ` (${connection.origin})` : '';
}

function hint(code: string | undefined): string {
  switch (code) {
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return '; the server’s certificate does not lead back to the configured certificate-authority';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return '; set tls-server-name when the server is reached under another name';
    default:
      return '';
  }
}

function sameCertificate(a: ClientCertificate | undefined, b: ClientCertificate | undefined): boolean {
  return a === b || (a?.cert === b?.cert && a?.key === b?.key);
}
