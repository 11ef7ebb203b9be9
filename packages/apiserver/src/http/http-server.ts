import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { ApiError } from '../api-error.ts';
import { mediaType, unsupportedMediaType } from '../schema/decode.ts';
import type { ApiRequest, ApiServer } from '../server.ts';
import { bodyLimit, tooLarge } from './body-limit.ts';
import { foreignRequests } from './foreign-request.ts';
import { notImplemented } from './misses.ts';
import { nodeHttp, nodeHttps } from './node-http.ts';
import { renderStatus } from './render.ts';
import { nodeCrypto } from '../node-crypto.ts';

/** Bytes that wait for the reader of a watch; with more, the watch itself waits. */
const watchQueueLimit = 1024 * 1024;
const discardLimit = 64 * 1024 * 1024;
/** The real server gives a request a minute too. */
const usualRequestTimeoutMs = 60_000;

export interface TlsMaterial {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  /** PEM of the authority client certificates must come from. */
  readonly clientCa?: string;
}

export interface HttpOptions {
  readonly port: number;
  readonly host: string;
  readonly tls?: TlsMaterial;
  /** Names the server may be called by, besides those of this machine and `host`. */
  readonly allowedHosts?: readonly string[];
  /** How long a request may take to arrive. Default one minute. */
  readonly requestTimeoutMs?: number;
  /** Hears what went wrong outside of any request. */
  readonly log?: (message: string) => void;
}

type Refuse = ReturnType<typeof foreignRequests>;

export interface Listener {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves an `ApiServer` over HTTP or HTTPS. */
export async function listen(api: ApiServer, options: HttpOptions): Promise<Listener> {
  const { port, host, tls, allowedHosts = [], requestTimeoutMs = usualRequestTimeoutMs } = options;
  const refuse = foreignRequests({ host, tls: tls !== undefined, allowedHosts });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => void serve(api, refuse, request, response);
  const limits = {
    keepAliveTimeout: 65_000,
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(10_000, requestTimeoutMs),
  };
  const server: Server = tls
    ? nodeHttps().createServer(
        {
          ...limits,
          cert: tls.cert,
          key: tls.key,
          ...(tls.clientCa ? { ca: tls.clientCa, requestCert: true, rejectUnauthorized: false } : {}),
        },
        onRequest,
      )
    : nodeHttp().createServer(limits, onRequest);
  // Without a listener Node would drop exec and port-forward requests without a word.
  server.on('upgrade', ({ headers }, socket: Duplex) => refuseUpgrade(socket, refuse(headers)));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // A connection that cannot be accepted (no file descriptors left) is no reason to end.
  server.on('error', (error) => options.log?.(`the listener of the API server: ${error.message}`));
  const address = server.address() as AddressInfo;
  const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `${tls ? 'https' : 'http'}://${shownHost === '0.0.0.0' ? '127.0.0.1' : shownHost}:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Nothing is streamed here. The socket is no longer watched over by Node: a reset would be an error nobody hears. */
function refuseUpgrade(socket: Duplex, foreign: ApiError | undefined): void {
  socket.on('error', () => socket.destroy());
  const { status } = foreign ?? notImplemented('streaming (exec, attach, port-forward)');
  const body = JSON.stringify(status);
  const head = [
    `HTTP/1.1 ${status.code} ${foreign ? 'Forbidden' : 'Not Implemented'}`,
    'content-type: application/json',
    'connection: close',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Answers one request. Never rejects: what cannot be answered ends its own connection and nothing else. */
async function serve(
  api: ApiServer,
  refuse: Refuse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.on('error', () => undefined);
  try {
    await answer(api, refuse, incoming, outgoing);
  } catch (error) {
    try {
      if (!(error instanceof ApiError) || outgoing.headersSent) throw error;
      const { status, headers, body } = renderStatus(error.status, error.headers);
      outgoing.writeHead(status, { ...headers, 'content-length': String(body!.length) });
      outgoing.end(body);
    } catch {
      outgoing.destroy();
    }
  }
}

async function answer(
  api: ApiServer,
  refuse: Refuse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const foreign = refuse(incoming.headers);
  if (foreign) {
    incoming.resume();
    throw foreign;
  }
  const body = await bodyOf(incoming);
  // The real server takes a body without a type for JSON. So could a web page send it, without asking anyone first.
  if (body?.length && mediaType(incoming.headers['content-type']) === '') {
    throw unsupportedMediaType(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']);
  }
  const request: ApiRequest = {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: incoming.headers,
    ...(body ? { body } : {}),
    ...certificateOf(incoming),
  };
  const response = await api.handle(request);
  if (response.stream) {
    stream(response.status, response.headers, response.stream, outgoing);
    return;
  }
  const bytes = response.body ?? Buffer.alloc(0);
  outgoing.writeHead(response.status, { ...response.headers, 'content-length': String(bytes.length) });
  outgoing.end(incoming.method === 'HEAD' ? undefined : bytes);
}

function stream(
  status: number,
  headers: ApiResponseHeaders,
  start: NonNullable<Awaited<ReturnType<ApiServer['handle']>>['stream']>,
  outgoing: ServerResponse,
): void {
  outgoing.writeHead(status, headers);
  outgoing.flushHeaders();
  const running = start({
    write(chunk) {
      outgoing.write(chunk);
      return outgoing.writableLength <= watchQueueLimit;
    },
    onceDrained: (resume) => outgoing.once('drain', resume),
    end: () => outgoing.end(),
    fail: () => outgoing.destroy(),
  });
  if (outgoing.destroyed) running.close();
  else outgoing.once('close', () => running.close());
}

type ApiResponseHeaders = Awaited<ReturnType<ApiServer['handle']>>['headers'];

function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const { method } = incoming;
  if (method === 'GET' || method === 'HEAD') {
    incoming.resume();
    return Promise.resolve(undefined);
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= bodyLimit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      reject(tooLarge());
      // The rest is read and thrown away, or the client would fail in the middle of sending and never see the answer.
      if (size > discardLimit) incoming.destroy();
    });
    incoming.once('end', () => resolve(Buffer.concat(chunks)));
    incoming.once('error', reject);
  });
}

function certificateOf(incoming: IncomingMessage): Pick<ApiRequest, 'clientCertificate'> {
  const socket = incoming.socket as TLSSocket;
  if (!socket.encrypted || !socket.authorized) return {};
  const { subject, raw } = socket.getPeerCertificate();
  if (!subject?.CN) return {};
  const organizations = subject.O === undefined ? [] : Array.isArray(subject.O) ? (subject.O as string[]) : [subject.O];
  const sha256 = nodeCrypto().createHash('sha256').update(raw).digest('hex');
  return { clientCertificate: { commonName: String(subject.CN), organizations, sha256 } };
}
