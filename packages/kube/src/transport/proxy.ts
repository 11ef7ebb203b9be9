import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { InputError } from '../input-error.ts';

interface ProxyTarget {
  host: string;
  port: number;
  timeoutMs: number;
}

/** A raw connection to `target` through an HTTP(S) proxy (`CONNECT`) or a SOCKS5 proxy. */
export function connectThroughProxy(proxyUrl: string, target: ProxyTarget): Promise<Socket> {
  const proxy = parseProxyUrl(proxyUrl);
  return proxy.protocol === 'socks5:' || proxy.protocol === 'socks5h:'
    ? connectSocks(proxy, target)
    : connectHttp(proxy, target);
}

export function parseProxyUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new InputError('Address', 'proxy-url is not a URL');
  }
  if (!['http:', 'https:', 'socks5:', 'socks5h:'].includes(url.protocol))
    throw new InputError(
      'Address',
      `proxy-url has scheme "${url.protocol.slice(0, -1)}"; supported are http, https and socks5`,
    );
  return url;
}

/** The proxy without user and password, for error texts. */
function nameOf(proxy: URL): string {
  return `${proxy.protocol}//${proxy.host}`;
}

/**
 * The proxy that is to be asked for `server` by its whole address, as RFC 9112 has it for plain HTTP: many refuse to open a
 * tunnel to anything but HTTPS. Undefined where a tunnel is the way.
 */
export function askedProxy(server: string, proxyUrl: string | undefined): URL | undefined {
  if (proxyUrl === undefined || !server.startsWith('http:')) return undefined;
  const proxy = parseProxyUrl(proxyUrl);
  return proxy.protocol === 'http:' || proxy.protocol === 'https:' ? proxy : undefined;
}

export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (!proxy.username) return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function connectHttp(proxy: URL, target: ProxyTarget): Promise<Socket> {
  const authority = `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`;
  const headers = { host: authority, ...proxyAuthorization(proxy) };
  const secure = proxy.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (secure ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      headers,
      agent: false,
      timeout: target.timeoutMs,
    });
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) {
        resolve(socket as Socket);
        return;
      }
      socket.destroy();
      reject(new Error(`proxy ${nameOf(proxy)} answered ${response.statusCode} to CONNECT ${authority}`));
    });
    request.once('response', (response) => {
      request.destroy();
      reject(new Error(`proxy ${nameOf(proxy)} answered ${response.statusCode} to CONNECT ${authority}`));
    });
    request.once('timeout', () => request.destroy(new Error('timed out')));
    request.once('error', (error) => reject(new Error(`proxy ${nameOf(proxy)}: ${error.message}`, { cause: error })));
    request.end();
  });
}

/** RFC 1928 with the user/password method of RFC 1929. Names are resolved by the proxy. */
async function connectSocks(proxy: URL, target: ProxyTarget): Promise<Socket> {
  const socket = connectTcp({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: Number(proxy.port || 1080),
    timeout: target.timeoutMs,
  });
  const read = reader(socket);
  const user = Buffer.from(decodeURIComponent(proxy.username));
  const password = Buffer.from(decodeURIComponent(proxy.password));
  try {
    socket.write(user.length > 0 ? Buffer.from([5, 2, 0, 2]) : Buffer.from([5, 1, 0]));
    const [version, method] = await read.bytes(2);
    if (version !== 5) throw new Error('it does not speak SOCKS5');
    if (method === 2) {
      socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([password.length]), password]));
      const [, verdict] = await read.bytes(2);
      if (verdict !== 0) throw new Error('user or password refused');
    } else if (method !== 0) throw new Error('it wants an authentication method that is not supported');

    const host = Buffer.from(target.host);
    const port = Buffer.from([target.port >> 8, target.port & 0xff]);
    socket.write(Buffer.concat([Buffer.from([5, 1, 0, 3, host.length]), host, port]));
    const [, reply, , addressType] = await read.bytes(4);
    if (reply !== 0) throw new Error(`it cannot reach ${target.host}:${target.port} (reply ${reply})`);
    const addressLength = addressType === 1 ? 4 : addressType === 4 ? 16 : (await read.bytes(1))[0]!;
    await read.bytes(addressLength + 2);
    read.release();
    socket.setTimeout(0);
    return socket;
  } catch (error) {
    socket.destroy();
    throw new Error(`proxy ${nameOf(proxy)}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Reads exact numbers of bytes from a socket, and leaves the rest in it. */
function reader(socket: Socket): { bytes(count: number): Promise<Buffer>; release(): void } {
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  const onReadable = () => wake?.();
  const onError = (error: Error) => {
    failure = error;
    wake?.();
  };
  const onEnd = () => onError(new Error('it closed the connection'));
  const onTimeout = () => onError(new Error('timed out'));
  socket.on('readable', onReadable).on('error', onError).on('end', onEnd).on('timeout', onTimeout);
  return {
    async bytes(count) {
      for (;;) {
        const chunk = socket.read(count) as Buffer | null;
        if (chunk) return chunk;
        if (failure) throw failure;
        await new Promise<void>((resolve) => (wake = resolve));
        wake = undefined;
      }
    },
    release() {
      socket.off('readable', onReadable).off('error', onError).off('end', onEnd).off('timeout', onTimeout);
    },
  };
}
