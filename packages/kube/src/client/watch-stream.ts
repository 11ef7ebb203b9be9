import type { WatchEvent } from '../client.ts';
import { ConfigError } from '../config/config-error.ts';
import { isRecord, parseJson } from '../json.ts';
import { KubeError, statusFrom } from '../kube-error.ts';
import type { KubeObject } from '../object.ts';
import type { Stream, Transport, TransportRequest } from '../transport.ts';

interface RawEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: T;
}

/**
 * A watch as an async iterable. Events that arrive while nobody asks are kept; leaving the loop ends the stream. An `ERROR`
 * event or an answer other than 200 is thrown as a `KubeError`.
 */
export async function* watchEvents<T extends KubeObject>(
  transport: Transport,
  request: TransportRequest,
  operation: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  signal?.throwIfAborted();
  const events: RawEvent<T>[] = [];
  let outcome: { error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  let status = 0;
  let headers: Readonly<Record<string, string | string[]>> = {};
  const lines = new LineSplitter();
  const refusal: Buffer[] = [];

  const finish = (error?: unknown) => {
    outcome ??= { error };
    wake?.();
  };
  const onLine = (line: string) => {
    if (outcome) return;
    try {
      const event = parseJson(line);
      if (!isEvent<T>(event)) throw new TypeError('an event has a type and an object');
      events.push(event);
    } catch (cause) {
      finish(new KubeError('the watch sent a line that is not an event', { reason: 'BadAnswer', operation, cause }));
    }
  };
  const stream: Stream = transport.open(request, {
    head(code, received) {
      status = code;
      headers = received;
    },
    data(chunk) {
      if (status === 200) {
        lines.push(chunk, onLine);
        wake?.();
      } else refusal.push(chunk);
    },
    end() {
      if (status !== 200) finish(KubeError.fromResponse({ status, headers, body: Buffer.concat(refusal) }, operation));
      else {
        lines.end(onLine);
        finish();
      }
    },
    error: (error) => finish(connectionError(error, operation)),
  });
  const onAbort = () => finish(signal!.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      for (const event of events.splice(0)) {
        signal?.throwIfAborted();
        if (event.type === 'ERROR') throw KubeError.fromStatus(statusFrom(event.object), operation);
        yield event as WatchEvent<T>;
      }
      if (outcome && events.length === 0) {
        if (outcome.error !== undefined) throw outcome.error;
        return;
      }
      if (events.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      wake = undefined;
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    stream.abort();
  }
}

function isEvent<T>(value: unknown): value is RawEvent<T> {
  return isRecord(value) && typeof value['type'] === 'string' && isRecord(value['object']);
}

export function connectionError(error: unknown, operation: string): KubeError {
  if (error instanceof KubeError)
    return error.operation
      ? error
      : new KubeError(error.message, { code: error.code, reason: error.reason, operation, cause: error.cause });
  const text = error instanceof Error ? error.message : String(error);
  return new KubeError(error instanceof ConfigError ? text : `no answer: ${text}`, {
    reason: 'ConnectionFailed',
    operation,
    cause: error,
  });
}

/** Cuts a byte stream at newlines. A character or a line may be split over any number of chunks. */
class LineSplitter {
  #rest: Buffer[] = [];

  push(chunk: Buffer, onLine: (line: string) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      start = end + 1;
      const line = this.#rest.length === 0 ? piece : Buffer.concat([...this.#rest, piece]);
      this.#rest = [];
      if (line.length > 0) onLine(line.toString('utf8'));
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
  }

  end(onLine: (line: string) => void): void {
    if (this.#rest.length > 0) onLine(Buffer.concat(this.#rest).toString('utf8'));
    this.#rest = [];
  }
}
