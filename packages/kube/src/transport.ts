/**
 * How bytes get to an API server and back. There are two ways: `send` for a request with a whole answer, `open` for an
 * answer that goes on (a watch). `open` is made of callbacks on purpose: no `await` may stand between the socket and the
 * cache, or events of one object overtake each other.
 */
export interface Transport {
  /** Sends a request and collects the whole answer. Rejects only when there is no answer; an HTTP error is an answer. */
  send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse>;
  /** Sends a request and hands the answer on as it arrives. */
  open(request: TransportRequest, handler: StreamHandler): Stream;
  /** Closes all connections. Requests under way fail. */
  close(): Promise<void>;
}

/** Longest answer that is taken in, unpacked. The largest pages of the largest clusters have a tenth of it. */
export const maxAnswerBytes = 256 * 1024 * 1024;

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query as sent, starting with `/`. */
  readonly path: string;
  /** Header names in lower case. Credentials are added by the transport. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** A transport in which requests wait calls it when the wait is over, and fails with what it throws without sending anything. */
  readonly beforeSend?: () => void;
}

export interface TransportResponse {
  readonly status: number;
  /** Header names in lower case. A header that came several times is an array. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

/** Receives a streamed answer: one `head`, any number of `data`, then exactly one of `end` or `error`. */
export interface StreamHandler {
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void;
  data(chunk: Buffer): void;
  end(): void;
  error(error: Error): void;
}

/** A streamed answer under way. */
export interface Stream {
  /** Ends the stream. No handler is called afterwards. */
  abort(): void;
  /** Hands on no more data until `resume`. A transport without it hands on what comes. */
  pause?(): void;
  resume?(): void;
}
