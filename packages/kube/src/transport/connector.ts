import type { Socket } from 'node:net';

import { buildConnector } from 'undici';

import type { ClientCertificate, Connection, TlsSettings } from '../connection.ts';
import { connectThroughProxy } from './proxy.ts';

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
  let material: Material | undefined;
  let connector: buildConnector.connector | undefined;

  const connectorWith = (next: Material): buildConnector.connector => {
    if (connector && material?.ca === next.ca && sameCertificate(material?.certificate, next.certificate))
      return connector;
    material = next;
    connector = buildConnector({
      allowH2: false,
      timeout: options.timeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      rejectUnauthorized: !tls.insecureSkipVerify,
      ...(next.ca === undefined ? {} : { ca: next.ca }),
      ...(next.certificate ? { cert: next.certificate.cert, key: next.certificate.key } : {}),
    });
    return connector;
  };

  const prepare = async (target: buildConnector.Options) => {
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
    let ready: Awaited<ReturnType<typeof prepare>>;
    try {
      ready = await prepare(target);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    if (target.protocol === 'http:' && ready.target.httpSocket) callback(null, ready.target.httpSocket);
    else ready.connect(ready.target, callback);
  };
  return (target, callback) => void open(target, callback);
}

async function load(tls: TlsSettings, certificate: ClientCertificate | undefined): Promise<Material> {
  const [ca, own] = await Promise.all([
    typeof tls.ca === 'function' ? tls.ca() : tls.ca,
    certificate ?? (typeof tls.clientCertificate === 'function' ? tls.clientCertificate() : tls.clientCertificate),
  ]);
  return { ca, certificate: own };
}

function sameCertificate(a: ClientCertificate | undefined, b: ClientCertificate | undefined): boolean {
  return a?.cert === b?.cert && a?.key === b?.key;
}
