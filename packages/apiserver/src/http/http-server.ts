import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ApiError } from '../api-error.ts';
import type { ApiRequest, ApiServer } from '../server.ts';
import { bodyLimit, tooLarge } from './body-limit.ts';
import { notImplemented } from './misses.ts';
import { nodeHttp, nodeHttps } from './node-http.ts';
import { renderStatus } from './render.ts';
import { nodeCrypto } from '../node-crypto.ts';

const watchQueueLimit = 16 * 1024 * 1024;
const discardLimit = 64 * 1024 * 1024;

const noUpgradeBody = JSON.stringify(notImplemented('streaming (exec, attach, port-forward)').status);
const noUpgrade = `HTTP/1.1 501 Not Implemented\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(noUpgradeBody)}\r\n\r\n${noUpgradeBody}`;

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
}

export interface Listener {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves an `ApiServer` over HTTP or HTTPS. */
export async function listen(api: ApiServer, { port, host, tls }: HttpOptions): Promise<Listener> {
  const onRequest = (request: IncomingMessage, response: ServerResponse) => void serve(api, request, response);
  const options = { keepAliveTimeout: 65_000, requestTimeout: 0, headersTimeout: 60_000 };
  const server: Server = tls
    ? nodeHttps().createServer(
        {
          ...options,
          cert: tls.cert,
          key: tls.key,
          ...(tls.clientCa ? { ca: tls.clientCa, requestCert: true, rejectUnauthorized: false } : {}),
        },
        onRequest,
      )
    : nodeHttp().createServer(options, onRequest);
  // Without a listener Node would drop exec and port-forward requests without a word.
  server.on('upgrade', (_request, socket) => socket.end(noUpgrade));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
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

async function serve(api: ApiServer, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  try {
    const body = await bodyOf(incoming);
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
  } catch (error) {
    if (error instanceof ApiError && !outgoing.headersSent) {
      const { status, headers, body } = renderStatus(error.status, error.headers);
      outgoing.writeHead(status, { ...headers, 'content-length': String(body!.length) });
      outgoing.end(body);
      return;
    }
    outgoing.destroy();
  }
}

function stream(
  status: number,
  headers: ApiResponseHeaders,
  start: NonNullable<Awaited<ReturnType<ApiServer['handle']>>['stream']>,
  outgoing: ServerResponse,
): void {
  outgoing.on('error', () => undefined);
  outgoing.writeHead(status, headers);
  outgoing.flushHeaders();
  const running = start({
    write(chunk) {
      const keepsUp = outgoing.write(chunk);
      // A client that does not read would make the queue grow for ever; it can resume from its last version.
      if (!keepsUp && outgoing.writableLength > watchQueueLimit) outgoing.destroy();
      return keepsUp;
    },
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
