import type { Client } from './client.ts';
import { createClient, type ClientOptions } from './client/create-client.ts';
import type { Connection } from './connection.ts';
import type { Transport } from './transport.ts';
import { undiciTransport, type UndiciTransportOptions } from './transport/undici-transport.ts';
import { inClusterConnection, isInCluster } from './config/in-cluster.ts';
import { loadKubeConfig, type KubeConfigOptions } from './config/kube-config.ts';

/**
 * The connection a program is meant to use: the file or context it was told, else `KUBECONFIG`, else (in a Pod) the service
 * account's, else `~/.kube/config`.
 */
export async function findConnection(options: KubeConfigOptions = {}): Promise<Connection> {
  const env = options.env ?? process.env;
  const told = options.file ?? options.context ?? env['KUBECONFIG'];
  if (!told && isInCluster(env)) return inClusterConnection(options);
  return (await loadKubeConfig(options)).connection();
}

export interface ConnectOptions
  extends UndiciTransportOptions, Omit<ClientOptions, 'transport' | 'fieldManager' | 'clock' | 'userAgent'> {
  /** Default `slipway`. */
  fieldManager?: string;
}

/** A cluster one can talk to. */
export interface Cluster {
  readonly connection: Connection;
  readonly transport: Transport;
  readonly client: Client;
  /** The namespace of the context or the Pod. */
  readonly namespace: string;
  /** Another transport with connections of its own, for what must not wait behind anything else (a leader's lease). Closed with the cluster. */
  openTransport(options?: UndiciTransportOptions): Transport;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes a transport and a client for a connection. Nothing is sent before the first call. */
export function connect(connection: Connection, options: ConnectOptions = {}): Cluster {
  const transports: Transport[] = [];
  const openTransport = (extra: UndiciTransportOptions = {}) => {
    const transport = undiciTransport(connection, { ...options, ...extra });
    transports.push(transport);
    return transport;
  };
  const transport = openTransport();
  const close = async () => {
    await Promise.all(transports.map((each) => each.close()));
  };
  return {
    connection,
    transport,
    client: createClient({ ...options, transport, fieldManager: options.fieldManager ?? 'slipway' }),
    namespace: connection.namespace ?? 'default',
    openTransport,
    close,
    [Symbol.asyncDispose]: close,
  };
}
