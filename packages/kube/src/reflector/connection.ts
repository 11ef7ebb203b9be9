import type { Clock, Timer } from '../clock.ts';
import type { Stream, Transport, TransportRequest } from '../transport.ts';
import type { YieldToLoop } from './time-slice.ts';

type Headers = Readonly<Record<string, string | string[]>>;

/** How a connection ends on our side. */
export type Breakdown = 'connection' | 'no-answer' | 'silent' | 'overdue';

export interface ConnectionHandler {
  /** The server said 200; data follows. */
  accepted(): void;
  data(chunk: Buffer): void;
  /** The server closed the answer properly. */
  ended(): void;
  /** The server answered with something else than 200. */
  refused(status: number, headers: Headers, body: Buffer): void;
  /** The connection broke, or one of our guards gave it up. */
  broke(breakdown: Breakdown, detail: string): void;
}

export interface ConnectionLimits {
  /** Give up when there is no answer (headers) after so long. */
  readonly answerMs: number;
  /** Give up when nothing was received for so long. `undefined`: silence is fine. */
  readonly silenceMs?: number | undefined;
  /** Give up after so long whatever happens: for watches, whose end the server announced. */
  readonly lifetimeMs?: number | undefined;
}

/**
 * So much is taken in before the event loop turns. A socket that has more hands it on at once otherwise, two megabytes at a
 * time, which is many milliseconds of work.
 */
const turnBytes = 256 * 1024;

/** Longest error answer that is read. */
const maxErrorBytes = 64 * 1024;

/**
 * One streamed request with its guards. After the first of `ended`, `refused`, `broke` or `close` it is over: nothing that
 * the transport still has to say gets through, so a late callback cannot touch what came after.
 */
export class Connection {
  readonly #clock: Clock;
  readonly #yieldToLoop: YieldToLoop;
  readonly #handler: ConnectionHandler;
  readonly #limits: ConnectionLimits;
  #stream: Stream | undefined;
  #over = false;
  #answered = false;
  #refusal: { status: number; headers: Headers; chunks: Buffer[]; bytes: number } | undefined;
  #answerTimer: Timer | undefined;
  #lifetimeTimer: Timer | undefined;
  #silenceTimer: Timer | undefined;
  #silenceMs: number | undefined;
  #lastReceived = 0;
  #acceptedAt: number | undefined;
  #bytesThisTurn = 0;

  constructor(clock: Clock, yieldToLoop: YieldToLoop, handler: ConnectionHandler, limits: ConnectionLimits) {
    this.#clock = clock;
    this.#yieldToLoop = yieldToLoop;
    this.#handler = handler;
    this.#limits = limits;
    this.#silenceMs = limits.silenceMs;
  }

  /** How long the server has been answering well, in milliseconds. */
  get healthyMs(): number {
    return this.#acceptedAt === undefined ? 0 : this.#clock.monotonic() - this.#acceptedAt;
  }

  open(transport: Transport, request: TransportRequest): void {
    const { answerMs, lifetimeMs } = this.#limits;
    this.#answerTimer = this.#clock.schedule(answerMs, () => {
      if (!this.#answered) this.#breakDown('no-answer', `no answer within ${answerMs / 1000} s`);
    });
    if (lifetimeMs !== undefined) {
      this.#lifetimeTimer = this.#clock.schedule(lifetimeMs, () => {
        this.#breakDown('overdue', `the server did not end it after ${lifetimeMs / 1000} s`);
      });
    }
    let stream: Stream;
    try {
      stream = transport.open(request, {
        head: (status, headers) => this.#head(status, headers),
        data: (chunk) => this.#data(chunk),
        end: () => this.#end(),
        error: (error) => this.#breakDown('connection', describe(error)),
      });
    } catch (error) {
      this.#breakDown('connection', describe(error instanceof Error ? error : new Error(String(error))));
      return;
    }
    // The transport may have called back before it returned.
    if (this.#over) stream.abort();
    else this.#stream = stream;
  }

  /** From now on silence for longer than `silenceMs` ends the connection. */
  limitSilence(silenceMs: number): void {
    if (this.#silenceMs === silenceMs || this.#over) return;
    this.#silenceMs = silenceMs;
    this.#silenceTimer?.cancel();
    this.#armSilence();
  }

  /** Ends the connection; the handler hears nothing more. */
  close(): void {
    if (this.#finish()) this.#stream?.abort();
    this.#stream = undefined;
  }

  #head(status: number, headers: Headers): void {
    if (this.#over) return;
    this.#answered = true;
    this.#answerTimer?.cancel();
    this.#lastReceived = this.#clock.monotonic();
    if (status === 200) {
      this.#acceptedAt = this.#lastReceived;
      this.#armSilence();
      this.#handler.accepted();
      return;
    }
    this.#refusal = { status, headers, chunks: [], bytes: 0 };
    this.#silenceMs = this.#limits.answerMs;
    this.#armSilence();
  }

  #data(chunk: Buffer): void {
    if (this.#over) return;
    this.#lastReceived = this.#clock.monotonic();
    const refusal = this.#refusal;
    if (refusal === undefined) {
      this.#handler.data(chunk);
      this.#letLoopTurn(chunk.length);
      return;
    }
    if (refusal.bytes < maxErrorBytes) {
      refusal.chunks.push(Buffer.from(chunk));
      refusal.bytes += chunk.length;
    }
  }

  #letLoopTurn(bytes: number): void {
    this.#bytesThisTurn += bytes;
    const stream = this.#stream;
    if (this.#bytesThisTurn < turnBytes || stream?.pause === undefined) return;
    this.#bytesThisTurn = 0;
    stream.pause();
    this.#yieldToLoop(() => {
      if (!this.#over) stream.resume?.();
    });
  }

  #end(): void {
    const refusal = this.#refusal;
    if (!this.#finish()) return;
    this.#stream = undefined;
    if (refusal) this.#handler.refused(refusal.status, refusal.headers, Buffer.concat(refusal.chunks));
    else this.#handler.ended();
  }

  #breakDown(breakdown: Breakdown, detail: string): void {
    const refusal = this.#refusal;
    if (!this.#finish()) return;
    this.#stream?.abort();
    this.#stream = undefined;
    if (refusal) this.#handler.refused(refusal.status, refusal.headers, Buffer.concat(refusal.chunks));
    else this.#handler.broke(breakdown, detail);
  }

  /** One timer per silence, not one per chunk: when it fires it looks how long ago the last chunk was. */
  #armSilence(): void {
    const silenceMs = this.#silenceMs;
    if (silenceMs === undefined || !this.#answered) return;
    const wait = this.#lastReceived + silenceMs - this.#clock.monotonic();
    if (wait <= 0) {
      this.#breakDown('silent', `nothing was received for ${silenceMs / 1000} s`);
      return;
    }
    this.#silenceTimer = this.#clock.schedule(wait, () => this.#armSilence());
  }

  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#answerTimer?.cancel();
    this.#lifetimeTimer?.cancel();
    this.#silenceTimer?.cancel();
    this.#refusal = undefined;
    return true;
  }
}

function describe(error: Error): string {
  const { code } = error as { code?: unknown };
  const text = error.message || error.name;
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text;
}
