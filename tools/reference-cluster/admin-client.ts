import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';

export interface AdminCredentials {
  url: string;
  /** PEM */
  ca: string;
  /** PEM */
  adminCert: string;
  /** PEM */
  adminKey: string;
}

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  /** Body as JSON; throws when it is none. */
  json<T = unknown>(): T;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal;
}

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: T;
}

/**
 * A few lines on node:https with the administrator's certificate. It is deliberately not the client that the project
 * ships: the judge shares no code with what is judged.
 */
export class AdminClient implements Disposable {
  readonly #credentials: AdminCredentials;
  readonly #agent: Agent;

  /** With the files that `start-reference-cluster.ts` writes. */
  static async fromFolder(url: string, dir: string): Promise<AdminClient> {
    const read = (name: string) => readFile(join(dir, name), 'utf8');
    return new AdminClient({
      url,
      ca: await read('ca.crt'),
      adminCert: await read('admin.crt'),
      adminKey: await read('admin.key'),
    });
  }

  constructor(credentials: AdminCredentials) {
    this.#credentials = credentials;
    this.#agent = new Agent({
      keepAlive: true,
      ca: credentials.ca,
      cert: credentials.adminCert,
      key: credentials.adminKey,
    });
  }

  /** Sends one request; every status is an answer, only a broken connection throws. */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const response = await this.#open(method, path, options);
    response.setEncoding('utf8');
    let text = '';
    for await (const chunk of response) text += chunk;
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text,
      json: <T>() => JSON.parse(text) as T,
    };
  }

  /** Like `send`, but throws on every status of 400 and above and returns the body. */
  async call<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const answer = await this.send(method, path, options);
    if (answer.status >= 400) throw new RequestFailed(method, path, answer);
    return answer.json<T>();
  }

  /** Events of a watch until the server ends it or `signal` aborts (which ends it without an error). */
  async *watch<T>(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    try {
      const response = await this.#open('GET', path, { signal });
      if (response.statusCode !== 200) {
        response.resume();
        throw new Error(`GET ${path}: status ${response.statusCode}`);
      }
      let rest = '';
      for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop()!;
        for (const line of lines) if (line) yield JSON.parse(line) as WatchEvent<T>;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #open(method: string, path: string, { headers, body, signal }: RequestOptions): Promise<IncomingMessage> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(new URL(path, this.#credentials.url), {
        method,
        agent: this.#agent,
        signal,
        headers: {
          accept: 'application/json',
          ...(payload ? { 'content-type': 'application/json', 'content-length': String(payload.length) } : {}),
          ...headers,
        },
      });
      outgoing.once('response', (response) => {
        // Who reads the body gets its errors. Without a listener, one that comes after the reader left ends the process.
        response.on('error', () => {});
        resolve(response);
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }
}

export class RequestFailed extends Error {
  readonly status: number;

  constructor(method: string, path: string, answer: Answer) {
    super(`${method} ${path}: status ${answer.status}: ${answer.text.slice(0, 500)}`);
    this.name = 'RequestFailed';
    this.status = answer.status;
  }
}
