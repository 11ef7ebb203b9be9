import type { UserInfo } from './auth/auth.ts';
import type { Registry } from './registry.ts';

/** A request as any transport hands it to the server. */
export interface ApiRequest {
  /** Upper case. */
  readonly method: string;
  /** Path and query as sent, starting with `/`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: Uint8Array;
  /** Who an in-process caller says it is. Socket transports leave it unset. */
  readonly user?: UserInfo;
  /** Subject of a verified client certificate. */
  readonly clientCertificate?: { readonly commonName: string; readonly organizations: readonly string[] };
}

export interface ApiResponse {
  readonly status: number;
  /** Header names in lower case; several `warning` headers are an array. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Absent when the answer is a stream. */
  readonly body?: Uint8Array;
  /** Starts a streamed answer (a watch). To be called exactly once. */
  readonly stream?: (sink: StreamSink) => { close(): void };
}

export interface StreamSink {
  /** False means: the receiver is behind, its queue grows. */
  write(chunk: Uint8Array): boolean;
  end(): void;
}

/** The server itself, without any socket. */
export interface ApiServer {
  readonly registry: Registry;
  handle(request: ApiRequest): Promise<ApiResponse>;
}
