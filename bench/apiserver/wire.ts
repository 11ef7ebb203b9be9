import { Pool } from 'undici';

import type { Wire } from './load.ts';

export interface WireOptions {
  readonly url: string;
  readonly token?: string;
  /** Loopback only: the certificate is not looked at, the encryption is real. */
  readonly connections: number;
}

/** Requests over HTTP(S)/1.1 with kept-alive connections, one for each client. */
export function httpWire(options: WireOptions): Wire & AsyncDisposable {
  const connect = { rejectUnauthorized: false };
  const pool = new Pool(options.url, { connections: options.connections, pipelining: 1, connect });
  const watches = new Pool(options.url, { connections: 512, pipelining: 1, connect, bodyTimeout: 0 });
  const authorization: Record<string, string> = options.token ? { authorization: `Bearer ${options.token}` } : {};
  return {
    async send({ method, path, headers, body }) {
      const answer = await pool.request({
        method,
        path,
        headers: { ...headers, ...authorization },
        body: body ?? null,
      });
      return { status: answer.statusCode, body: Buffer.from(await answer.body.bytes()) };
    },
    open(path, line) {
      const end = new AbortController();
      const run = async () => {
        const { body } = await watches.request({ method: 'GET', path, headers: authorization, signal: end.signal });
        for await (const chunk of body as AsyncIterable<Buffer>) {
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) line();
        }
      };
      run().catch((error: unknown) => {
        if (!end.signal.aborted) console.error(error);
      });
      return () => end.abort();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([pool.destroy(), watches.destroy()]);
    },
  };
}
