import type { Stream, StreamHandler, Transport, TransportRequest, TransportResponse } from '@slipway/kube';

/** A request in the words of authorization. */
export interface ApiRequest {
  readonly verb: string;
  readonly group: string;
  /** With its subresource, as roles write it: `btpoperators/status`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

export type RequestMatch = Partial<ApiRequest> & {
  /** How many requests are refused before the rest pass. Default: all. */
  readonly times?: number;
};

export interface Answer {
  readonly status: number;
  readonly reason?: string;
  readonly message?: string;
}

/** Requests that are being refused. */
export interface Refused {
  readonly hits: number;
  remove(): void;
}

export interface ManagerTransportOptions {
  /** Sent with every request; for impersonation. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Told of every answer, with its message when it is a refusal; what it returns is waited for before the manager gets the answer. */
  readonly answered?: (request: ApiRequest, answer: { status: number; message: string; sent: string }) => unknown;
}

/** The way of a manager to either kind of cluster, on which tests read along and refuse requests. Requests of tests go another way. */
export class ManagerTransport implements Transport {
  readonly #inner: Transport;
  readonly #options: ManagerTransportOptions;
  readonly #refusals = new Set<{ match: RequestMatch; answer: Answer; hits: number }>();

  constructor(inner: Transport, options: ManagerTransportOptions = {}) {
    this.#inner = inner;
    this.#options = options;
  }

  refuse(match: RequestMatch, answer: Answer = { status: 403, reason: 'Forbidden', message: 'no' }): Refused {
    const refusal = { match, answer, hits: 0 };
    this.#refusals.add(refusal);
    return {
      get hits() {
        return refusal.hits;
      },
      remove: () => void this.#refusals.delete(refusal),
    };
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    const asked = apiRequestOf(request);
    const refused = asked && this.#refusalOf(asked);
    const response = refused ? answerOf(refused) : await this.#inner.send(this.#marked(request), signal);
    if (asked && this.#options.answered) {
      const sent = request.body === undefined ? '' : Buffer.from(request.body as Uint8Array).toString();
      await this.#options.answered(asked, { status: response.status, message: messageOf(response), sent });
    }
    return response;
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    const asked = apiRequestOf(request);
    let status = 0;
    let text = '';
    const over = (): void => {
      // What was allowed has been told of when it began.
      if (asked && status >= 400) this.#options.answered?.(asked, { status, message: messageIn(text), sent: '' });
    };
    return this.#inner.open(this.#marked(request), {
      head: (code, headers) => {
        status = code;
        if (asked && code < 400) this.#options.answered?.(asked, { status, message: '', sent: '' });
        handler.head(code, headers);
      },
      data: (chunk) => {
        if (status >= 400) text += chunk.toString();
        handler.data(chunk);
      },
      end: () => {
        over();
        handler.end();
      },
      error: (error) => {
        over();
        handler.error(error);
      },
    });
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #marked(request: TransportRequest): TransportRequest {
    return { ...request, headers: { ...request.headers, ...this.#options.headers } };
  }

  #refusalOf(asked: ApiRequest): Answer | undefined {
    for (const refusal of this.#refusals) {
      const { times = Number.POSITIVE_INFINITY, ...wanted } = refusal.match;
      const fits = Object.entries(wanted).every(([field, value]) => asked[field as keyof ApiRequest] === value);
      if (!fits || refusal.hits >= times) continue;
      refusal.hits += 1;
      return refusal.answer;
    }
    return undefined;
  }
}

/** Which permission a request needs; `undefined` for paths that are no resources. */
export function apiRequestOf({ method, path }: TransportRequest): ApiRequest | undefined {
  const [plain = '', query = ''] = path.split('?');
  const parts = plain.split('/').slice(1).map(decodeURIComponent);
  const rest = parts[0] === 'api' ? parts.slice(2) : parts[0] === 'apis' ? parts.slice(3) : [];
  const group = parts[0] === 'apis' ? parts[1]! : '';
  const namespaced = rest[0] === 'namespaces' && rest.length > 2;
  const [plural, name, subresource] = namespaced ? rest.slice(2) : rest;
  if (!plural) return undefined;
  return {
    verb: verbOf(method, name, new URLSearchParams(query).has('watch')),
    group,
    resource: subresource ? `${plural}/${subresource}` : plural,
    ...(namespaced ? { namespace: rest[1]! } : {}),
    ...(name ? { name } : {}),
  };
}

function verbOf(method: TransportRequest['method'], name: string | undefined, watch: boolean): string {
  switch (method) {
    case 'GET':
      return watch ? 'watch' : name ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name ? 'delete' : 'deletecollection';
  }
}

function answerOf({ status, reason, message = 'no' }: Answer): TransportResponse {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: status, reason, message };
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(body)) };
}

function messageOf({ status, body }: TransportResponse): string {
  return status < 400 ? '' : messageIn(body.toString());
}

function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? '';
  } catch {
    return text;
  }
}
