import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';

import { buildConnector } from 'undici';

import type { ClientCertificate, Connection, TlsSettings } from '../connection.ts';
import { askedProxy, connectThroughProxy } from './proxy.ts';

interface Material {
  ca: string | undefined;
  certificate: ClientCertificate | undefined;
}

/**
 * Opens connections for a pool. The CA bundle and certificate files are asked for again at each new connection, so a rotated
 * one is picked up without a restart; connections that are open stay.
 */
export function connectorFor(
  connection: Connection,
  options: { certificate: ClientCertificate | undefined; timeoutMs: number },
): buildConnector.connector {
  const { tls = {} } = connection;
  const common = { allowH2: false, timeout: options.timeoutMs, keepAlive: true, keepAliveInitialDelay: 30_000 };
  let good: { material: Material; connector: buildConnector.connector } | undefined;

  const connectorWith = (next: Material): buildConnector.connector => {
    if (good && sameMaterial(good.material, next)) return good.connector;
    const problem = problemOf(next);
    if (problem) {
      // Files are replaced one after the other: until they belong together again, what worked goes on being used.
      if (good) return good.connector;
      throw problem;
    }
    const connector = buildConnector({
      ...common,
      rejectUnauthorized: !tls.insecureSkipVerify,
      ...(next.ca === undefined ? {} : { ca: next.ca }),
      ...(next.certificate ? { cert: next.certificate.cert, key: next.certificate.key } : {}),
    });
    good = { material: next, connector };
    return connector;
  };

  const prepare = async (target: buildConnector.Options) => {
    const proxy = askedProxy(connection.server, connection.proxyUrl);
    if (proxy) return { connect: buildConnector(common), target: { ...target, ...addressOf(proxy) } };
    const connect = connectorWith(await load(tls, options.certificate));
    const direct: buildConnector.Options = { ...target, servername: tls.serverName ?? target.servername };
    if (!connection.proxyUrl) return { connect, target: direct };
    const httpSocket: Socket = await connectThroughProxy(connection.proxyUrl, {
      host: target.hostname,
      port: Number(target.port || (target.protocol === 'https:' ? 443 : 80)),
      timeoutMs: options.timeoutMs,
    });
    return { connect, target: { ...direct, httpSocket } };
  };

  const open = async (target: buildConnector.Options, callback: buildConnector.Callback): Promise<void> => {
    let called = false;
    const once: buildConnector.Callback = (...outcome) => {
      if (called) return;
      called = true;
      callback(...outcome);
    };
    try {
      const ready = await prepare(target);
      if (target.protocol === 'http:' && ready.target.httpSocket) once(null, ready.target.httpSocket);
      else ready.connect(ready.target, once);
    } catch (error) {
      once(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
  return (target, callback) => void open(target, callback);
}

function addressOf({ protocol, hostname, host, port }: URL) {
  const name = hostname.replace(/^\[|\]$/g, '');
  return { protocol, host, hostname: name, servername: name, port: port || (protocol === 'https:' ? '443' : '80') };
}

async function load(tls: TlsSettings, certificate: ClientCertificate | undefined): Promise<Material> {
  const [ca, own] = await Promise.all([
    typeof tls.ca === 'function' ? tls.ca() : tls.ca,
    certificate ?? (typeof tls.clientCertificate === 'function' ? tls.clientCertificate() : tls.clientCertificate),
  ]);
  return { ca, certificate: own };
}

/** Why no TLS connection can be made with it; a key of another certificate, a file that is being written. */
function problemOf({ ca, certificate }: Material): Error | undefined {
  try {
    createSecureContext({ ca, cert: certificate?.cert, key: certificate?.key });
    return undefined;
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    const what = certificate ? 'CA bundle, client certificate and key' : 'CA bundle';
    return new Error(`${what} cannot be used: ${text}`, { cause });
  }
}

function sameMaterial(a: Material, b: Material): boolean {
  return a.ca === b.ca && a.certificate?.cert === b.certificate?.cert && a.certificate?.key === b.certificate?.key;
}
