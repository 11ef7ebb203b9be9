import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ClusterOptions } from '../../src/index.ts';

/** A server in a process of its own: whatever ends it ends no test, and shows. */
export interface AttackedServer {
  readonly url: string;
  readonly port: number;
  /** Set when the process has ended. */
  readonly ended: { readonly code: number | null; readonly stderr: string } | undefined;
  /** A raw connection; its errors are heard. */
  connect(): Promise<Socket>;
  call(options: CallOptions): Promise<CallAnswer>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface CallOptions {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface CallAnswer {
  readonly status: number;
  readonly text: string;
}

export async function attackedServer(options: ClusterOptions = {}): Promise<AttackedServer> {
  const child = spawn(
    process.execPath,
    ['--no-warnings', join(import.meta.dirname, 'server-process.ts'), JSON.stringify(options)],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  let ended: AttackedServer['ended'];
  const exit = new Promise<void>((resolve) => {
    child.once('close', (code) => {
      ended = { code, stderr };
      resolve();
    });
  });
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    void exit.then(() => reject(new Error(`the server ended: ${stderr}`)));
  });
  const { url } = JSON.parse(line) as { url: string };
  const port = Number(new URL(url).port);
  return {
    url,
    port,
    get ended() {
      return ended;
    },
    connect: () =>
      new Promise((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket));
        socket.once('error', reject);
        socket.on('error', () => undefined);
      }),
    call: ({ method = 'GET', path, headers = {}, body }) => callServer(`${url}${path}`, method, headers, body),
    async [Symbol.asyncDispose]() {
      // It may be past answering to anything else.
      child.kill('SIGKILL');
      await exit;
    },
  };
}

export function callServer(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: string | Buffer,
): Promise<CallAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }));
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
