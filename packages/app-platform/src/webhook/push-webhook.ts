import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import {
  answering,
  closeServer,
  listen,
  pathOf,
  type EventSource,
  type Logger,
  type PlainAnswer,
} from '@slipway/runtime';

import { isSignedWith } from './signature.ts';

export interface PushWebhookOptions {
  /** 0 takes any free port; the log says which. */
  readonly port: number;
  /** File with the secret that the Git server knows too. Read for every call: it may be renewed. */
  readonly secretFile: string;
  readonly onPush: () => void;
}

export const pushPath = '/hooks/push';

/** A push is announced in a few kilobytes; nobody makes us keep more. */
const largestBody = 1024 * 1024;
const slowestRequestMs = 10_000;

/** Listens for the calls a Git server makes after a push, so that nobody waits for the next look at it. */
export function pushWebhook(options: PushWebhookOptions): EventSource {
  return {
    name: 'push-webhook',
    start(_emit, { log, signal }) {
      const server = createServer(
        { requestTimeout: slowestRequestMs, headersTimeout: slowestRequestMs },
        answering((request) => answer(request, options, log), log),
      );
      listen(server, { port: options.port }, log).then(
        (port) => {
          if (signal.aborted) void closeServer(server);
          else log.info('listening for pushes', { port, path: pushPath });
        },
        (error: unknown) => log.error('pushes are found by polling only', { error }),
      );
      return () => void closeServer(server);
    },
  };
}

async function answer(request: IncomingMessage, options: PushWebhookOptions, log: Logger): Promise<PlainAnswer> {
  if (pathOf(request.url) !== pushPath) return { status: 404, body: `try ${pushPath}\n` };
  if (request.method !== 'POST') return { status: 405, headers: { allow: 'POST' }, body: '' };
  const body = await bodyOf(request);
  if (body === undefined) return { status: 413, headers: { connection: 'close' }, body: '' };
  const secret = readFileSync(options.secretFile, 'utf8').trim();
  // An empty secret is none: everybody would know it.
  if (secret === '' || !isSignedWith(secret, request.headers, body)) {
    log.warn('a call to the push webhook was refused: its signature is not of our secret');
    return { status: 401, body: 'the signature is not of the shared secret\n' };
  }
  options.onPush();
  return { status: 202, body: '' };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
