import type { StatusBody } from './api-error.ts';
import type { UserInfo } from './auth/auth.ts';
import type { Cluster } from './cluster.ts';
import type { ApiObject } from './object.ts';

/** What a test sees of an answer. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Parsed when it is JSON, else undefined. */
  readonly body: ApiObject & Partial<StatusBody> & { items: ApiObject[] };
  readonly text: string;
}

export interface TestWatch {
  /** Parsed events so far. */
  readonly events: { type: string; object: ApiObject & Partial<StatusBody> }[];
  /** The chunks as they came. */
  readonly chunks: Buffer[];
  readonly status: number | undefined;
  readonly ended: boolean;
  readonly error: Error | undefined;
  /** `TYPE name` of every event. */
  summary(): string[];
  abort(): void;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface TestClient {
  send(method: Method, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
  get(path: string, headers?: Record<string, string>): Promise<TestAnswer>;
  post(path: string, body: unknown): Promise<TestAnswer>;
  put(path: string, body: unknown): Promise<TestAnswer>;
  merge(path: string, body: unknown): Promise<TestAnswer>;
  patch(path: string, type: string, body: unknown): Promise<TestAnswer>;
  delete(path: string, body?: unknown): Promise<TestAnswer>;
  watch(path: string, headers?: Record<string, string>): Promise<TestWatch>;
}

/** A client for tests: says what it sends and shows all it gets. */
export function testClient(cluster: Cluster, user?: UserInfo): TestClient {
  const transport = user ? cluster.transportFor({ user }) : cluster.transport;
  const send: TestClient['send'] = async (method, path, body, headers = {}) => {
    const response = await transport.send({
      method,
      path,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = response.body.toString();
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson && text ? JSON.parse(text) : undefined) as TestAnswer['body'],
    };
  };
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body) => send('POST', path, body),
    put: (path, body) => send('PUT', path, body),
    merge: (path, body) => send('PATCH', path, body, { 'content-type': 'application/merge-patch+json' }),
    patch: (path, type, body) => send('PATCH', path, body, { 'content-type': type }),
    delete: (path, body) => send('DELETE', path, body),
    watch(path, headers = {}) {
      const watch = {
        events: [] as TestWatch['events'],
        chunks: [] as Buffer[],
        status: undefined as number | undefined,
        ended: false,
        error: undefined as Error | undefined,
        summary: () => watch.events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim()),
        abort: () => stream.abort(),
      };
      let stream: { abort(): void };
      return new Promise((resolve) => {
        let rest = '';
        stream = transport.open(
          { method: 'GET', path, headers },
          {
            head(status) {
              watch.status = status;
              // The first events come in the same breath; let them in before the test looks.
              queueMicrotask(() => resolve(watch));
            },
            data(chunk) {
              watch.chunks.push(chunk);
              const lines = (rest + chunk.toString()).split('\n');
              rest = lines.pop()!;
              for (const line of lines) watch.events.push(JSON.parse(line) as TestWatch['events'][number]);
            },
            end() {
              watch.ended = true;
            },
            error(error) {
              watch.error = error;
              resolve(watch);
            },
          },
        );
      });
    },
  };
}

export function configMap(name: string, data: Record<string, string> = {}, metadata: object = {}): ApiObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}
