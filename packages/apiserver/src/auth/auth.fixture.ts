import { startCluster, type Cluster, type ClusterOptions } from '../cluster.ts';
import { VirtualClock } from '../virtual-clock.ts';
import type { UserInfo } from './auth.ts';

/** An answer, with the body parsed. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any
}

export interface Caller {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  put(path: string, body: unknown): Promise<Answer>;
  patch(path: string, body: unknown, contentType?: string): Promise<Answer>;
  remove(path: string, body?: unknown): Promise<Answer>;
}

export interface AuthCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  readonly admin: Caller;
  as(name: string, ...groups: string[]): Caller;
}

/** A cluster on virtual time without controllers, spoken to as different people. */
export async function startAuthCluster(options: Partial<ClusterOptions> = {}): Promise<AuthCluster> {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock, controllers: 'none', ...options });
  const caller = (user?: UserInfo): Caller => {
    const transport = cluster.transportFor(user ? { user } : {});
    const send = async (
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<Answer> => {
      const response = await transport.send({
        method,
        path,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = response.body.toString();
      return {
        status: response.status,
        headers: response.headers,
        body: text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : { text },
      };
    };
    return {
      get: (path, headers) => send('GET', path, undefined, headers),
      post: (path, body, headers) => send('POST', path, body, headers),
      put: (path, body) => send('PUT', path, body),
      patch: (path, body, contentType = 'application/merge-patch+json') =>
        send('PATCH', path, body, { 'content-type': contentType }),
      remove: (path, body) => send('DELETE', path, body),
    };
  };
  return {
    cluster,
    clock,
    admin: caller(),
    as: (name, ...groups) => caller({ name, groups: [...groups, 'system:authenticated'] }),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}
