import { readFile as readFileFromDisk } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';

import type { Connection } from '../connection.ts';
import { systemClock, type Clock } from '../clock.ts';
import { ConfigError, fileProblem } from './config-error.ts';
import { proxyFromEnvironment } from './proxy-environment.ts';
import { ReloadingFile, type ReadFile } from './reloading-file.ts';
import { tokenFileCredentials } from './token-credentials.ts';

export interface InClusterOptions {
  /** Default `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Default: the file system. */
  readFile?: ReadFile;
  /** Default `/var/run/secrets/kubernetes.io/serviceaccount`. */
  directory?: string;
  /** Default {@link systemClock}. */
  clock?: Clock;
}

/** Whether this process looks like it runs in a Pod. */
export function isInCluster(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST'] && env['KUBERNETES_SERVICE_PORT']);
}

/** The connection a Pod has: the address from its environment, token and CA from its service account. Both are read again as they rotate. */
export async function inClusterConnection(options: InClusterOptions = {}): Promise<Connection> {
  const env = options.env ?? process.env;
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port)
    throw new ConfigError('is not set: this process does not run in a Pod', {
      field: host ? 'KUBERNETES_SERVICE_PORT' : 'KUBERNETES_SERVICE_HOST',
    });
  const directory = options.directory ?? '/var/run/secrets/kubernetes.io/serviceaccount';
  const readFile = options.readFile ?? ((path: string) => readFileFromDisk(path, 'utf8'));
  const file = (name: string) =>
    new ReloadingFile(join(directory, name), { readFile, clock: options.clock ?? systemClock });
  const token = file('token');
  const ca = file('ca.crt');
  for (const needed of [token, ca]) {
    try {
      await needed.content();
    } catch (error) {
      throw new ConfigError(`the file of the service account ${fileProblem(error)}`, {
        file: needed.path,
        cause: error,
      });
    }
  }
  const server = `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const proxyUrl = proxyFromEnvironment(new URL(server), env);
  return {
    server,
    tls: { ca: () => ca.content() },
    credentials: tokenFileCredentials(token),
    namespace: (await readOrDefault(readFile, join(directory, 'namespace'))).trim() || 'default',
    origin: 'in-cluster',
    ...(proxyUrl ? { proxyUrl } : {}),
  };
}

async function readOrDefault(readFile: ReadFile, path: string): Promise<string> {
  try {
    return await readFile(path);
  } catch {
    return '';
  }
}
