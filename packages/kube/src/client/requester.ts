import type { CallOptions } from '../client.ts';
import { sleep, type Clock } from '../clock.ts';
import { ConfigError } from '../config/config-error.ts';
import { parseJson } from '../json.ts';
import type { Kind } from '../kind.ts';
import { isConnectionFailure, isTimeout, KubeError } from '../kube-error.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts';
import { concernsSecret, withoutSecretValues } from './secret-texts.ts';
import { connectionError } from './watch-stream.ts';

export type Verb = 'get' | 'list' | 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deletecollection' | 'raw';

/** Told about the calls of a client: for spans and metrics. */
export interface ClientInstrument {
  /** A call begins. The function returned, if any, is called with its outcome. */
  call(info: CallInfo): ((outcome: CallOutcome) => void) | undefined;
}

export interface CallInfo {
  readonly verb: Verb;
  readonly method: string;
  readonly operation: string;
  readonly kind?: Kind;
  readonly namespace?: string;
  readonly name?: string;
}

export interface CallOutcome {
  /** HTTP status of the last answer; absent when there was none. */
  readonly status?: number;
  readonly error?: unknown;
  /** How often the server asked to come back later (or a read was repeated). */
  readonly retries: number;
  readonly durationMs: number;
}

export interface JsonRequest {
  verb: Verb;
  operation: string;
  method: TransportRequest['method'];
  path: string;
  kind?: Kind;
  key?: { namespace?: string; name: string };
  body?: unknown;
  contentType?: string;
  accept?: string;
  /** An answer that is not JSON is given back as text instead of being an error. */
  textAllowed?: boolean;
}

interface RequesterOptions {
  transport: Transport;
  clock: Clock;
  userAgent: string | undefined;
  warn: ((warning: string, operation: string) => void) | undefined;
  instrument: ClientInstrument | undefined;
  maxRetryWaitMs: number;
}

const maxRetries = 10;

/** Turns calls into requests and answers into values or `KubeError`s; comes back when the server asks for it. */
export class Requester {
  readonly #options: RequesterOptions;

  constructor(options: RequesterOptions) {
    this.#options = options;
  }

  async json(request: JsonRequest, options: CallOptions = {}): Promise<unknown> {
    const { clock, instrument } = this.#options;
    const startedAt = clock.now();
    const finished = instrument?.call({
      verb: request.verb,
      method: request.method,
      operation: request.operation,
      kind: request.kind,
      namespace: request.key?.namespace,
      name: request.key?.name || undefined,
    });
    const progress = { retries: 0, status: undefined as number | undefined };
    try {
      const response = await this.#send(request, options, progress);
      const value = parse(response, request);
      finished?.({ ...progress, durationMs: clock.now() - startedAt });
      return value;
    } catch (error) {
      finished?.({ ...progress, error, durationMs: clock.now() - startedAt });
      throw error;
    }
  }

  async #send(
    request: JsonRequest,
    { signal, beforeSend }: CallOptions,
    progress: { retries: number; status: number | undefined },
  ): Promise<TransportResponse> {
    const { transport, clock, maxRetryWaitMs } = this.#options;
    let refusal: { error: unknown } | undefined;
    const check = (): void => {
      try {
        if (request.method !== 'GET') beforeSend?.();
      } catch (error) {
        refusal = { error };
        throw error;
      }
    };
    const wire: TransportRequest = { ...this.#wire(request), ...(beforeSend ? { beforeSend: check } : {}) };
    let waitedMs = 0;
    let repeatable = request.method === 'GET' ? 1 : 0;
    for (;;) {
      signal?.throwIfAborted();
      let response: TransportResponse;
      try {
        check();
        response = await transport.send(wire, signal);
      } catch (error) {
        if (refusal) throw refusal.error;
        if (signal?.aborted) throw signal.reason;
        const failure = connectionError(error, request.operation);
        // A kept-alive connection may die just as it is used again; reading once more harms nobody.
        if (repeatable > 0 && isConnectionFailure(failure) && !isTimeout(failure) && !(error instanceof ConfigError)) {
          repeatable -= 1;
          progress.retries += 1;
          continue;
        }
        throw failure;
      }
      progress.status = response.status;
      // Warnings quote as freely as errors.
      if (!concernsSecret(request)) this.#passWarnings(response, request.operation);
      if (response.status >= 200 && response.status < 300) return response;
      const failure = withoutSecretValues(KubeError.fromResponse(response, request.operation), request);
      const waitMs = waitBeforeRetry(failure);
      if (waitMs === undefined || progress.retries >= maxRetries || waitedMs + waitMs > maxRetryWaitMs) throw failure;
      progress.retries += 1;
      waitedMs += waitMs;
      await sleep(clock, waitMs, signal, { holds: true });
    }
  }

  #wire(request: JsonRequest): TransportRequest {
    const headers: Record<string, string> = { accept: request.accept ?? 'application/json' };
    if (this.#options.userAgent) headers['user-agent'] = this.#options.userAgent;
    const wire = { method: request.method, path: request.path, headers };
    if (request.body === undefined) return wire;
    headers['content-type'] = request.contentType ?? 'application/json';
    const raw = typeof request.body === 'string' || request.body instanceof Uint8Array;
    return { ...wire, body: raw ? (request.body as string | Uint8Array) : JSON.stringify(request.body) };
  }

  #passWarnings(response: TransportResponse, operation: string): void {
    const header = response.headers['warning'];
    if (header === undefined || !this.#options.warn) return;
    for (const line of Array.isArray(header) ? header : [header])
      for (const text of parseWarnings(line)) this.#options.warn(text, operation);
  }
}

/** A server that is busy says when to come back; other failures are the caller's to judge. */
function waitBeforeRetry(failure: KubeError): number | undefined {
  if (failure.code === 429) return failure.retryAfterMs ?? 1_000;
  if (failure.code >= 500) return failure.retryAfterMs;
  return undefined;
}

function parse(response: TransportResponse, request: JsonRequest): unknown {
  const text = response.body.toString('utf8');
  if (text === '') return undefined;
  try {
    return parseJson(text);
  } catch (cause) {
    if (request.textAllowed) return text;
    throw new KubeError(`the answer to ${request.operation} is not JSON`, {
      code: response.status,
      reason: 'BadAnswer',
      operation: request.operation,
      // It quotes the text it stumbled over.
      ...(concernsSecret(request) ? {} : { cause }),
    });
  }
}

/** The texts in a `Warning` header: `299 - "text", 299 - "text"`. */
export function parseWarnings(header: string): string[] {
  const warnings: string[] = [];
  for (const match of header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g))
    warnings.push(match[1]!.replaceAll(/\\(.)/g, '$1'));
  return warnings;
}
